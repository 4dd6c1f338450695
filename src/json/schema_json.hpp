// Shapes as JSON Schema 2020-12.
#pragma once

#include <string>
#include <string_view>

#include "json/shape.hpp"

namespace undertext {

class SchemaWriter {
 public:
  // `references`: where shapes stand in the document, such as "#/$defs/".
  SchemaWriter(const Shapes& shapes, std::string_view references)
      : shapes_(shapes), references_(references) {}

  std::string of_type(std::string_view type) const;  // an expression of shape.hpp
  std::string of_shape(const Shape& shape) const;
  std::string of_all() const;  // {"Stats":{…},…}

 private:
  std::string reference_to(std::string_view name) const;
  std::string of_union(const Shape& shape) const;
  std::string of_object(const Shape& shape) const;
  void append_mapping(std::string& out, std::string_view member, std::string_view type,
                      std::string_view to) const;

  const Shapes& shapes_;
  std::string references_;
};

// Operations, queries, answers, settings and errors: all shapes of the protocol.
Shapes protocol_shapes();
// The same as a document with "$defs".
std::string protocol_schema();

}  // namespace undertext
