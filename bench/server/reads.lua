-- Reads of the last messages, from conversations in turn. Requests are made once: what is measured is the server.
local requests, number = {}, 0
init = function()
  for i = 0, 63 do
    requests[i] = wrk.format("GET", "/v1/conversations/read-" .. i .. "/messages?last=50")
  end
end
request = function()
  number = (number + 1) % 64
  return requests[number]
end
done = function(summary, latency)
  report(summary, latency)
end
