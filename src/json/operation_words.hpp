// What schemas say of operations: a sentence and an example each. Tests hold the examples against
// the engine.
#pragma once

#include <cstddef>
#include <string_view>
#include <variant>

#include "history/operation_table.hpp"

namespace undertext {

struct OperationWords {
  std::size_t alternative;  // of Operation::What
  std::string_view text;
  std::string_view example;
};

inline constexpr OperationWords operation_words[] = {
    {alternative_of<op::Append>(), "Adds messages to the end of the view.",
     R"({"operation":"APPEND","messages":[{"role":"user","content":"Hello"}]})"},
    {alternative_of<op::Insert>(), "Puts messages before a position of the view.",
     R"({"operation":"INSERT","position":0,"messages":[{"role":"system","content":"Be brief."}]})"},
    {alternative_of<op::Replace>(),
     "A new message takes the place of another, which stays in the log.",
     R"({"operation":"REPLACE","index":0,"message":{"role":"user","content":"Hello again"}})"},
    {alternative_of<op::Truncate>(), "Keeps the beginning, the end or a stretch of the view.",
     R"({"operation":"TRUNCATE","keepLast":5})"},
    {alternative_of<op::Clear>(), "Empties the view, but for system messages.",
     R"({"operation":"CLEAR"})"},
    {alternative_of<op::Filter>(), "Keeps messages of some roles, or with or without some texts.",
     R"({"operation":"FILTER","roles":["user","assistant"]})"},
    {alternative_of<op::Delete>(), "Hides exactly these messages.",
     R"({"operation":"DELETE","indices":[0]})"},
    {alternative_of<op::Compress>(),
     "Hides messages, or what a strategy chooses; the summary stands for them.",
     R"({"operation":"COMPRESS","indices":[0,1],"summary":{"role":"user","content":"Greetings"}})"},
    {alternative_of<op::CompressBy>(), "A strategy chooses what to hide.",
     R"({"operation":"COMPRESS","strategy":{"name":"keep_recent","n":2}})"},
    {alternative_of<op::Expand>(), "A message goes, and those it stands for return.",
     R"({"operation":"EXPAND","index":0})"},
    {alternative_of<op::Show>(), "Hidden messages return to their places.",
     R"({"operation":"SHOW","ordinals":[0]})"},
    {alternative_of<op::Merge>(), "Joins messages into one.",
     R"({"operation":"MERGE","indices":[0,1]})"},
    {alternative_of<op::Split>(), "Splits a message into several.",
     R"({"operation":"SPLIT","index":0,"at":[2]})"},
    {alternative_of<op::Transform>(), "Changes texts or metadata of messages.",
     R"({"operation":"TRANSFORM","roles":["user"],"replaceText":{"find":"Hello","with":"Hi"}})"},
    {alternative_of<op::StartBatch>(), "Opens a batch: a point to return to.",
     R"({"operation":"START_BATCH"})"},
    {alternative_of<op::EndBatch>(), "Returns to a batch, and may carry messages along.",
     R"({"operation":"END_BATCH","targetBatch":0,"carry":["assistant"]})"},
    {alternative_of<op::Rollback>(), "The view becomes what it last was in a batch.",
     R"({"operation":"ROLLBACK","targetBatchIndex":0})"},
    {alternative_of<op::Mark>(), "Labels messages.",
     R"({"operation":"MARK","indices":[0],"mark":"pinned"})"},
    {alternative_of<op::Unmark>(), "Takes a label off messages.",
     R"({"operation":"UNMARK","indices":[0],"mark":"pinned"})"},
    {alternative_of<op::Undo>(), "Takes back the last operation that is not undone.",
     R"({"operation":"UNDO"})"},
    {alternative_of<op::Redo>(), "Carries out again what was undone last.",
     R"({"operation":"REDO"})"},
    {alternative_of<op::Restore>(), "The state of a version returns, as a new version.",
     R"({"operation":"RESTORE","version":1})"},
    {alternative_of<op::ImportMarkMap>(), "The view and the batches become those of a mark map.",
     R"({"operation":"IMPORT_MARK_MAP","markMap":{"originalIndices":[0],"typeIndices":{"user":[0]},)"
     R"("batchBoundaries":[0],"boundaryToBatch":[0],"currentBatch":0}})"},
    {alternative_of<op::Reconcile>(),
     "The conversation follows a client that keeps its own list and sends all of it.",
     R"({"operation":"RECONCILE","messages":[{"role":"user","content":"Hello"}]})"},
    {alternative_of<op::Recall>(), "Appends a message that quotes what a search for a text finds.",
     R"({"operation":"RECALL","text":"Hello","all":true})"},
    {alternative_of<op::MergeFork>(), "Appends what a fork of this conversation achieved.",
     R"({"operation":"MERGE_FORK","from":"fork-1"})"},
};
// All but ApplyPlan, Reconciled, Recalled, MergedFork and ExpandFork, which only records have.
static_assert(std::size(operation_words) + 5 == std::variant_size_v<Operation::What>,
              "an operation has no words");

}  // namespace undertext
