import { filledEnvelope, signed } from './envelope.ts'
import { poster } from './post.ts'
import { onJob } from './sender.ts'

// Only the requests: one body, signed once, nothing recorded.
onJob(async ({ url, count, concurrency }) => {
  const post = poster(url, concurrency)
  const { headers, body } = signed(filledEnvelope('bench-1-100000', 100_000))
  let left = count
  const loop = async () => {
    while (left-- > 0) await post(headers, body)
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
})
