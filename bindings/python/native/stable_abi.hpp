// Included before everything else. A module for Python 3.12 and all that follow keeps to the stable
// interface of CPython, which lacks what reads an object's memory directly: here in the words of
// what it has. For one version alone nothing changes.
#pragma once

#include <string>

#include <Python.h>

#ifdef Py_LIMITED_API
#  define PyBytes_AS_STRING PyBytes_AsString
#  define PyBytes_GET_SIZE PyBytes_Size
#  define PyDict_GET_SIZE PyDict_Size
#  define PyFloat_AS_DOUBLE PyFloat_AsDouble
#  define PyList_GET_ITEM PyList_GetItem
#  define PyList_GET_SIZE PyList_Size
#  define PyTuple_GET_ITEM PyTuple_GetItem
#  define PyTuple_GET_SIZE PyTuple_Size
#  define PyUnicode_GET_LENGTH PyUnicode_GetLength
// Nobody tells: what is asked only to be quick takes the longer way.
#  define PyUnicode_IS_COMPACT_ASCII(string) false
// Of ASCII alone, which has no second form.
#  define PyUnicode_DATA(string) static_cast<const void*>(PyUnicode_AsUTF8AndSize(string, nullptr))
#endif

// The name of an object's class, with its module where that is not built in.
inline std::string class_name(PyObject* object) {
#ifdef Py_LIMITED_API
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  std::string name;
  for (const char* part : {"__module__", "__qualname__"}) {
    PyObject* const found = PyObject_GetAttrString(type, part);
    const char* const text = found != nullptr ? PyUnicode_AsUTF8AndSize(found, nullptr) : nullptr;
    if (text == nullptr) PyErr_Clear();
    if (text != nullptr && std::string(text) != "builtins")
      name += (name.empty() ? "" : ".") + std::string(text);
    Py_XDECREF(found);
  }
  return name;
#else
  return Py_TYPE(object)->tp_name;
#endif
}

// A new string, as int itself writes it, whatever its subclass does.
inline PyObject* integer_digits(PyObject* integer) {
#ifdef Py_LIMITED_API
  return reinterpret_cast<reprfunc>(PyType_GetSlot(&PyLong_Type, Py_tp_repr))(integer);
#else
  return PyLong_Type.tp_repr(integer);
#endif
}
