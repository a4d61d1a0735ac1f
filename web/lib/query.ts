import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from '../api/client.ts'

interface Entry {
  data?: unknown
  error?: ApiError
  /** The time of the last read; 0 after an error or a change, so that the next reader asks again. */
  at: number
  running?: Promise<void>
}

/** Data older than this is read again when it is shown. */
const FRESH_MS = 10_000
const entries = new Map<string, Entry>()
const listeners = new Set<(key: string) => void>()
const notify = (key: string) => {
  for (const listener of listeners) listener(key)
}

async function load(key: string, read: () => Promise<unknown>): Promise<void> {
  const entry = entries.get(key) ?? { at: 0 }
  entries.set(key, entry)
  if (entry.running) return entry.running
  entry.running = read()
    .then(
      (data) => {
        entry.data = data
        entry.at = Date.now()
        delete entry.error
      },
      (error) => {
        entry.at = 0
        entry.error = asApiError(error)
      },
    )
    .then(() => {
      delete entry.running
      notify(key)
    })
  notify(key)
  return entry.running
}

/** A mistake of ours is shown like a failed call, and is in the console of the browser too. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  reportError(error)
  return new ApiError({ status: 0, message: String(error) })
}

/**
 * Reads data and keeps it under the key. Old data stays visible while new data is read; data is read
 * again when the tab becomes visible, and every `everySeconds`.
 */
export function useQuery<Data>(
  key: string,
  read: () => Promise<Data>,
  { everySeconds }: { everySeconds?: number | undefined } = {},
) {
  const [, redraw] = useState(0)
  const latest = useRef<{ read: () => Promise<Data>; shown: Data | undefined }>({
    read,
    shown: undefined,
  })
  latest.current.read = read
  const again = useCallback(() => load(key, () => latest.current.read()), [key])

  useEffect(() => {
    const listener = (changed: string) => {
      if (changed !== key) return
      redraw((count) => count + 1)
      const entry = entries.get(key)
      if (!entry || (entry.at === 0 && !entry.error && !entry.running)) void again()
    }
    listeners.add(listener)
    const entry = entries.get(key)
    if (!entry || Date.now() - entry.at > FRESH_MS) void again()
    const refresh = () => {
      if (document.visibilityState === 'visible') void again()
    }
    document.addEventListener('visibilitychange', refresh)
    return () => {
      listeners.delete(listener)
      document.removeEventListener('visibilitychange', refresh)
    }
  }, [key, again])

  useEffect(() => {
    if (!everySeconds) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void again()
    }, everySeconds * 1000)
    return () => clearInterval(timer)
  }, [again, everySeconds])

  const entry = entries.get(key)
  if (entry?.data !== undefined) latest.current.shown = entry.data as Data
  return {
    data: entry?.data === undefined ? latest.current.shown : (entry.data as Data),
    error: entry?.error,
    loading: entry === undefined || entry.running !== undefined,
    again,
  }
}

/** After a change: data whose key starts with the prefix is read again, at once where it is shown. */
export function forget(prefix: string): void {
  for (const [key, entry] of entries) {
    if (!key.startsWith(prefix)) continue
    entry.at = 0
    delete entry.error
    notify(key)
  }
}

/** Returns whether the object of a change is gone: what is shown is older. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 404

/** With a new session nothing of the last one is kept: what is shown is read again. */
export function forgetEverything(): void {
  const keys = [...entries.keys()]
  entries.clear()
  for (const key of keys) notify(key)
}

/** Changes data that is shown before the server answers; `forget` corrects it afterwards. */
export function setOptimistic<Data>(key: string, change: (data: Data) => Data): void {
  const entry = entries.get(key)
  if (entry?.data === undefined) return
  entry.data = change(entry.data as Data)
  notify(key)
}

/**
 * Runs a change once at a time. The idempotency key stays the same until an answer arrives, so that
 * a second click or a retry after a lost answer changes nothing twice.
 */
export function useAction<Args extends unknown[]>(
  act: (idempotencyKey: string, ...args: Args) => Promise<unknown>,
) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const running = useRef(false)
  const key = useRef<string | undefined>(undefined)
  const run = async (...args: Args): Promise<boolean> => {
    if (running.current) return false
    running.current = true
    setBusy(true)
    setError(undefined)
    key.current ??= newKey()
    try {
      await act(key.current, ...args)
      key.current = undefined
      return true
    } catch (problem) {
      const failed = asApiError(problem)
      if (failed.status > 0 && failed.status < 500) key.current = undefined
      setError(failed)
      return false
    } finally {
      running.current = false
      setBusy(false)
    }
  }
  return { run, busy, error, clear: () => setError(undefined) }
}

// `crypto.randomUUID` exists only on https and localhost.
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
