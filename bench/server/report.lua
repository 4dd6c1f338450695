-- One line of JSON of what wrk measured.
function report(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%.3f,"per_second":%.0f,"p50_ms":%.2f,"p99_ms":%.2f,"max_ms":%.2f,"bytes":%d,"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}}\n',
    summary.requests, summary.duration / 1e6, summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3, latency.max / 1e3, summary.bytes, errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
