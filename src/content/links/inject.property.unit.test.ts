import { describe, expect, it } from 'vitest'
import { isLeaf, type Leaf, partsOf } from '../../../test/support/mail-parts.ts'
import { randomMail } from '../../../test/support/random-mail.ts'
import { MimeMessage } from '../../mime/message.ts'
import { planInjection } from './inject.ts'

const SEEDS = Number(process.env.INJECTOR_SEEDS ?? 400)
const TRACKER = 'https://track.test'

const wishes = { opens: true, clicks: true, leaves: (url: URL) => url.hostname === 'kept.test' }
const copy = {
  pixelUrl: `${TRACKER}/p`,
  linkUrl: (position: number) => `${TRACKER}/${position}/${'x'.repeat(60)}`,
  unsubscribeUrl: `${TRACKER}/u`,
}

/** Removes the pixel and restores the original links. */
const undone = (html: string, links: string[]) =>
  html
    .replaceAll(
      /(\r\n)?<img src="https:\/\/track\.test\/p"[^>]*>(\r\n)?/g,
      (whole, before, after) =>
        before && after ? '' : whole.startsWith('\r\n') ? '\r\n' : after ? '\r\n' : '',
    )
    .replaceAll(
      /(["']?)https:\/\/track\.test\/(\d+)\/x{60}(["']?)/g,
      (_, open, position, close) => {
        const url = (links[position] as string).replaceAll('&', '&amp;')
        return url.includes('/plain/') ? url : `${open}${url}${close}`
      },
    )

const isOurs = (line: string) => /^(X-Svc-ID|List-Unsubscribe(-Post)?|Message-ID):/.test(line)

describe.each(Array.from({ length: Math.ceil(SEEDS / 50) }, (_, n) => n * 50))(
  'fifty messages from seed %i on',
  (first) => {
    it('keep every byte except for the tracking URLs', async () => {
      for (let seed = first; seed < first + 50; seed++) await check(seed)
    })
  },
)

async function check(seed: number) {
  const { raw, signed } = randomMail(seed)
  const plan = planInjection(new MimeMessage(raw), wishes)
  expect(plan, `seed ${seed}`).toBeDefined()
  if (!plan) return
  const out = plan.write({ 'X-Svc-ID': '01X' }, copy).raw
  const [before, after] = [await partsOf(raw), await partsOf(out)]
  expect(after.length, `seed ${seed}`).toBe(before.length)

  // With the changes undone, every byte is equal to the original.
  const restored = after.map((piece, index) => {
    const original = before[index] as Buffer | Leaf
    if (!isLeaf(piece)) return index === 0 ? withoutOurs(piece, original as Buffer) : piece
    const was = original as Leaf
    expect(piece.headers.includes('X-Svc-ID') || piece.headers === was.headers).toBe(true)
    if (!piece.raw.equals(was.raw)) {
      expect(was.type, `seed ${seed}`).toBe('text/html')
      expect(was.disposition).not.toBe('attachment')
      expect(['utf-16le', 'x-none']).not.toContain(was.charset)
      const reversed = undone(piece.decoded.toString('latin1'), plan.links)
      expect(reversed, `seed ${seed}`).toBe(was.decoded.toString('latin1'))
      expect(
        piece.decoded.toString('latin1').split('<img src="https://track.test/p"'),
      ).toHaveLength(2)
      for (const line of piece.raw.toString('latin1').split('\r\n')) {
        expect(line.length).toBeLessThanOrEqual(998)
      }
    }
    return was.raw
  })
  expect(Buffer.concat(restored).equals(raw), `seed ${seed}`).toBe(true)
  for (const bytes of signed) expect(out.includes(bytes), `seed ${seed}`).toBe(true)

  // Without tracking URLs only the headers change.
  const stamped = plan.write({ 'X-Svc-ID': '01X' }).raw
  expect(stamped.length - raw.length).toBe('X-Svc-ID: 01X\r\n'.length)
}

function withoutOurs(headers: Buffer, original: Buffer): Buffer {
  const had = new Set(original.toString('latin1').split('\r\n'))
  const lines = headers.toString('latin1').split('\r\n')
  return Buffer.from(lines.filter((line) => had.has(line) || !isOurs(line)).join('\r\n'), 'latin1')
}

it('the random messages include tracked, untracked and linked ones', () => {
  const plans = Array.from({ length: 200 }, (_, seed) =>
    planInjection(new MimeMessage(randomMail(seed).raw), wishes),
  )
  expect(plans.some((plan) => plan?.isTrackable)).toBe(true)
  expect(plans.some((plan) => !plan?.isTrackable)).toBe(true)
  expect(plans.filter((plan) => (plan?.links.length ?? 0) > 2).length).toBeGreaterThan(10)
})
