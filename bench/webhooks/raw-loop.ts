import { filledEnvelope, signed } from './envelope.ts'
import { poster } from './post.ts'
import { onJob } from './sender.ts'

// Nothing but the requests: one body, signed once, and nothing remembered.
onJob(async ({ url, count, concurrency }) => {
  const post = poster(url, concurrency)
  const { headers, body } = signed(filledEnvelope('bench-1-100000', 100_000))
  let left = count
  const loop = async () => {
    while (left-- > 0) await post(headers, body)
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
})
