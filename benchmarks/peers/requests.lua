-- What wrk asks: `wrk -s requests.lua URL -- SUBJECT FILE [BODY [VERSION]]`, where each line of FILE is a token and the
-- path of an order. With a VERSION each request names it, and each order is made under a key of its own.
local subject, tokens, paths = nil, {}, {}
local at, made, version = 0, 0, nil
local run = os.time()
local BODY = '{"sku": "ABC-1", "quantity": 2, "unit_price": 150, "note": "by the back door"}'

function init(args)
   subject, BODY, version = args[1], args[3] or BODY, args[4]
   for line in io.lines(args[2]) do
      local token, path = line:match("(%S+) (%S+)")
      tokens[#tokens + 1], paths[#paths + 1] = token, path
   end
end

function request()
   at = at % #paths + 1
   local headers = { ["Authorization"] = "Bearer " .. tokens[at], ["Api-Version"] = version }
   if subject == "read" then return wrk.format("GET", paths[at], headers) end
   if subject == "list" then return wrk.format("GET", "/orders", headers) end
   if subject == "move" then return wrk.format("POST", paths[at] .. "/hold", headers) end
   headers["Content-Type"] = "application/json"
   if version then
      made = made + 1
      headers["Idempotency-Key"] = string.format('"%d-%d-%s"', run, made, subject)
   end
   return wrk.format("POST", "/orders", headers, BODY)
end

function done(summary, latency, _)
   local errors = summary.errors
   io.write(string.format(
      '{"requests": %d, "microseconds": %d, "p50": %d, "p99": %d, "refused": %d, "lost": %d}\n',
      summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
      errors.connect + errors.read + errors.write + errors.timeout))
end
