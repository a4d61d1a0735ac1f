import { useEffect, useState } from 'preact/hooks'
import type { ApiError } from '../api/client.ts'

/** Seconds until the server takes the next try, of a 429. */
export function useCountdown(error: ApiError | undefined): number {
  const [left, setLeft] = useState(0)
  useEffect(() => {
    const seconds = error?.status === 429 ? (error.retryAfter ?? 0) : 0
    setLeft(seconds)
    if (seconds === 0) return
    const until = Date.now() + seconds * 1000
    const timer = setInterval(() => {
      const rest = Math.max(0, Math.ceil((until - Date.now()) / 1000))
      setLeft(rest)
      if (rest === 0) clearInterval(timer)
    }, 1000)
    return () => clearInterval(timer)
  }, [error])
  return left
}
