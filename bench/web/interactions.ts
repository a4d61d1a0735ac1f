import { chromium, type Page } from 'playwright-core'
import { median } from '../report.ts'
import { CHROMIUM, FLAGS } from './browser.ts'
import type { Installation } from './installation.ts'

const SLOWED = 4
const ROUNDS = 5

export interface Interaction {
  name: string
  bestMs: number
  medianMs: number
  mostMs: number
}

// Code for the page is text: the benchmarks are compiled without the types of a browser.
const OBSERVE = `
  window.slowest = 0
  new PerformanceObserver((list) => {
    for (const { duration, interactionId } of list.getEntries())
      if (interactionId) window.slowest = Math.max(window.slowest, duration)
  }).observe({ type: 'event', durationThreshold: 16 })`
const PAINTED = `new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))))`
// An event that took less than the threshold leaves no entry.
const TAKE = `${PAINTED}.then(() => [Math.max(window.slowest, 8), window.slowest = 0][0])`

/** The actions of a person on the list of mailboxes, in this order. */
const ACTS: [name: string, act: (page: Page) => Promise<unknown>][] = [
  ['open the command palette', (page) => page.keyboard.press('Control+k')],
  ['type in the command palette', (page) => page.keyboard.type('mail')],
  ['close the command palette', (page) => page.keyboard.press('Escape')],
  ['open the dialog Add mailbox', (page) => button(page, 'Add mailbox').click()],
  ['type in a field of the dialog', (page) => page.keyboard.type('jane@bench.example')],
  ['close the dialog', (page) => page.keyboard.press('Escape')],
  ['sort the list', (page) => button(page, 'Storage').click()],
  ['next page of the list', (page) => button(page, 'Next').click()],
  ['search the list', (page) => page.getByRole('searchbox').first().pressSequentially('person-2')],
  ['open the menu of a row', (page) => button(page, /^Actions for person/).click()],
  ['close the menu', (page) => page.keyboard.press('Escape')],
  ['go to another screen', (page) => page.getByRole('link', { name: 'Aliases' }).click()],
]

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first()

/** The longest time from an event to the next paint for each act, with the processor slowed. */
export async function measureInteractions({ url, cookies }: Installation): Promise<Interaction[]> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  try {
    const context = await browser.newContext({ baseURL: url, locale: 'en-GB' })
    await context.addCookies(cookies)
    await context.addInitScript({ content: OBSERVE })
    const page = await context.newPage()
    const session = await context.newCDPSession(page)
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWED })
    const times: number[][] = ACTS.map(() => [])
    for (let round = 0; round < ROUNDS; round++) {
      await page.goto('/app/mailboxes')
      await page
        .getByRole('link', { name: /^person-/ })
        .first()
        .waitFor()
      for (const [index, [, act]] of ACTS.entries()) {
        await act(page)
        times[index]?.push((await page.evaluate(TAKE)) as number)
      }
    }
    return ACTS.map(([name], index) => {
      const measured = times[index] ?? []
      return {
        name,
        bestMs: Math.min(...measured),
        medianMs: median(measured),
        mostMs: Math.max(...measured),
      }
    })
  } finally {
    await browser.close()
  }
}
