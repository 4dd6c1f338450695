-- Reads of the last messages, from conversations in turn.
local number = 0
request = function()
  number = number + 1
  return wrk.format("GET", "/v1/conversations/read-" .. number % 64 .. "/messages?last=50")
end
done = function(summary, latency)
  report(summary, latency)
end
