-- Appends of one message of 200 bytes of text, to conversations in turn.
local number = 0
local text = string.rep("eleven more", 18)
local headers = {["Content-Type"] = "application/json"}
local body = '{"operation":"APPEND","messages":[{"role":"user","content":"' .. text .. '"}]}'
request = function()
  number = number + 1
  return wrk.format("POST", "/v1/conversations/write-" .. number % 1000 .. "/operations", headers, body)
end
done = function(summary, latency)
  report(summary, latency)
end
