import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, expect, it } from 'vitest'
import { OutOfTime, PoolBusy, type Task, type WorkerPool, workerPool } from './worker-pool.ts'

const folder = mkdtempSync(join(tmpdir(), 'mailplane-tasks-'))
afterAll(() => rmSync(folder, { recursive: true }))
let pool: WorkerPool
afterEach(() => pool.close())

// biome-ignore lint/suspicious/noExplicitAny: tests send and return any value
function task(name: string, source: string): Task<{ default: (input: any) => any }> {
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, `export default ${source}`)
  return { url: pathToFileURL(file).href }
}
const echo = task('echo', 'async (input) => input')
const forever = task('forever', '() => { for (;;); }')
const broken = task('broken', '() => { throw new Error("no such luck") }')
const exits = task('exits', '() => process.exit(3)')
const environment = task('environment', '() => Object.keys(process.env)')
const hungry = task(
  'hungry',
  '() => { const all = []; for (;;) all.push(new Array(1e6).fill({})) }',
)
const mine = { owner: 'acme', timeLimitMs: 20_000 }

it('returns the result of the task and passes on its error', async () => {
  pool = workerPool({ size: 2 })
  expect(await pool.run(echo, { text: 'hello', bytes: Buffer.from([1, 2]) }, mine)).toEqual({
    text: 'hello',
    bytes: new Uint8Array([1, 2]),
  })
  await expect(pool.run(broken, {}, mine)).rejects.toThrow('no such luck')
  expect(await pool.run(echo, 'again', mine)).toBe('again')
})

it('shares the memory of a SharedArrayBuffer instead of copying it', async () => {
  pool = workerPool({ size: 1 })
  const bytes = new Uint8Array(new SharedArrayBuffer(3))
  await pool.run(task('write', '(bytes) => { bytes[1] = 7 }'), bytes, mine)
  expect([...bytes]).toEqual([0, 7, 0])
})

it('ends a thread at its time limit and runs the next task on a new one', async () => {
  pool = workerPool({ size: 1 })
  const late = pool.run(forever, {}, { ...mine, timeLimitMs: 200 })
  const next = pool.run(echo, 'next', mine)
  await expect(late).rejects.toThrow(OutOfTime)
  expect(await next).toBe('next')
})

it('leaves a thread to other owners while one owner has endless work', async () => {
  pool = workerPool({ size: 2 })
  const limits = { owner: 'evil', timeLimitMs: 60_000 }
  const endless = Array.from({ length: 5 }, () => pool.run(forever, {}, limits))
  expect(await pool.run(echo, 'mine', mine)).toBe('mine')
  const settled = Promise.allSettled(endless)
  await pool.close()
  expect((await settled).map(({ status }) => status)).toEqual(Array(5).fill('rejected'))
})

it('refuses work of an owner who has too much waiting', async () => {
  pool = workerPool({ size: 1 })
  const limits = { owner: 'evil', timeLimitMs: 60_000 }
  const waiting = Promise.allSettled(
    Array.from({ length: 51 }, () => pool.run(forever, {}, limits)),
  )
  await expect(pool.run(forever, {}, limits)).rejects.toThrow(PoolBusy)
  await pool.close()
  await waiting
})

it('survives a task that ends its thread or needs too much memory', async () => {
  pool = workerPool({ size: 1, threadMemoryMb: 32 })
  await expect(pool.run(exits, {}, mine)).rejects.toThrow('the worker thread ended')
  await expect(pool.run(hungry, {}, { ...mine, timeLimitMs: 60_000 })).rejects.toThrow(/memory/i)
  expect(await pool.run(echo, 'alive', mine)).toBe('alive')
})

it('gives the threads no environment variables', async () => {
  pool = workerPool({ size: 1 })
  expect(await pool.run(environment, {}, mine)).toEqual([])
})
