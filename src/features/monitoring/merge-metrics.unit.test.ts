import { expect, it } from 'vitest'
import { mergeMetrics } from './merge-metrics.ts'

const page = (requests: number, extra = '') => `# HELP api_requests_total Requests
# TYPE api_requests_total counter
api_requests_total{method="GET",path="/a b"} ${requests}
api_requests_total{} ${requests}

# HELP api_up Up
# TYPE api_up gauge
api_up ${requests}
${extra}`

const ALONE = '# HELP other_up Other\n# TYPE other_up gauge\nother_up 1\n'

it('joins the metrics of two processes under one HELP and TYPE line, by a label (B5.3)', () => {
  const text = mergeMetrics([
    { process: 'mail1:5000', text: page(1, ALONE) },
    { process: 'mail1:5001', text: page(2) },
  ])
  expect(text).toBe(`# HELP api_requests_total Requests
# TYPE api_requests_total counter
api_requests_total{process="mail1:5000",method="GET",path="/a b"} 1
api_requests_total{process="mail1:5000"} 1
api_requests_total{process="mail1:5001",method="GET",path="/a b"} 2
api_requests_total{process="mail1:5001"} 2

# HELP api_up Up
# TYPE api_up gauge
api_up{process="mail1:5000"} 1
api_up{process="mail1:5001"} 2

# HELP other_up Other
# TYPE other_up gauge
other_up 1

`)
})

it('leaves the series of a single process as they are', () => {
  const text = mergeMetrics([
    { process: 'mail1:5000', text: page(1) },
    { process: 'mail2:5000', text: '' },
  ])
  expect(text).toContain('\napi_up 1\n')
  expect(text).not.toContain('process=')
})
