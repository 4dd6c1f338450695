-- Appends of one message of 200 bytes of text, to conversations in turn. Requests are made once: what is measured is the server.
local requests, number = {}, 0
local text = string.rep("eleven more", 18)
local body = '{"operation":"APPEND","messages":[{"role":"user","content":"' .. text .. '"}]}'
init = function()
  for i = 0, 999 do
    requests[i] = wrk.format("POST", "/v1/conversations/write-" .. i .. "/operations", {["Content-Type"] = "application/json"}, body)
  end
end
request = function()
  number = (number + 1) % 1000
  return requests[number]
end
done = function(summary, latency)
  report(summary, latency)
end
