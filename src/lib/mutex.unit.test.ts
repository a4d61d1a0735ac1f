import { describe, expect, it } from 'vitest'
import { limiter, namedLimiter, namedMutex } from './mutex.ts'

/** Work that ends when the test calls `finish`. */
function pending() {
  let finish = () => {}
  let fail = (_error: Error) => {}
  const promise = new Promise<void>((resolve, reject) => {
    finish = resolve
    fail = reject
  })
  return { promise, finish: () => finish(), fail: (error: Error) => fail(error) }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('namedMutex', () => {
  it('runs the next work after a failure, and rejects only the failed call', async () => {
    const inTurn = namedMutex()
    const failing = inTurn(['a'], async () => {
      throw new Error('mine')
    })
    const next = inTurn(['a'], async () => 'done')
    await expect(failing).rejects.toThrow('mine')
    expect(await next).toBe('done')
  })

  it('runs work with one name in order, and other names in parallel', async () => {
    const inTurn = namedMutex()
    const order: string[] = []
    const first = pending()
    const running = [
      inTurn(['a'], async () => {
        order.push('a1')
        await first.promise
        order.push('a1 ends')
      }),
      inTurn(['a'], async () => order.push('a2')),
      inTurn(['b'], async () => order.push('b')),
    ]
    await settled()
    expect(order).toEqual(['a1', 'b'])
    first.finish()
    await Promise.all(running)
    expect(order).toEqual(['a1', 'b', 'a1 ends', 'a2'])
  })

  it('locks several names in any order without a deadlock', async () => {
    const inTurn = namedMutex()
    let inside = 0
    let most = 0
    const work = async () => {
      most = Math.max(most, ++inside)
      await settled()
      inside--
    }
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => inTurn(i % 2 ? ['a', 'b'] : ['b', 'a', 'a'], work)),
    )
    expect(most).toBe(1)
  })
})

describe('limiter', () => {
  it('runs at most the limit at once and the others in order, also after failures', async () => {
    const limited = limiter(2)
    const works = Array.from({ length: 5 }, pending)
    const order: number[] = []
    const all = works.map(({ promise }, index) =>
      limited(async () => {
        order.push(index)
        await promise
      }),
    )
    await settled()
    expect(order).toEqual([0, 1])
    works[1]?.fail(new Error('mine'))
    await expect(all[1]).rejects.toThrow('mine')
    await settled()
    expect(order).toEqual([0, 1, 2])
    for (const { finish } of works) finish()
    await Promise.all(all.filter((_, index) => index !== 1))
    expect(order).toEqual([0, 1, 2, 3, 4])
    expect(await limited(async () => 'free again')).toBe('free again')
  })
})

describe('namedLimiter', () => {
  it('lets work of one name wait for its own name only, also after failures', async () => {
    const limited = namedLimiter(1)
    const slow = pending()
    const order: string[] = []
    const start = (name: string, promise: Promise<unknown>) =>
      limited(name, async () => {
        order.push(name)
        await promise
      })
    const first = start('a', slow.promise)
    const second = start('a', Promise.resolve())
    await start('b', Promise.resolve())
    expect(order).toEqual(['a', 'b'])
    slow.fail(new Error('mine'))
    await expect(first).rejects.toThrow('mine')
    await second
    expect(order).toEqual(['a', 'b', 'a'])
  })
})
