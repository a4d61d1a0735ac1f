import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

export const CHROMIUM = '/usr/bin/chromium'

/** False where Chromium could not be installed; the tests of the lane are then skipped. */
export const hasChromium = existsSync(CHROMIUM)

/** Debian's Chromium, without its own calls to the network. */
export const startChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Hosts of white labels.
      '--host-resolver-rules=MAP *.brand.test 127.0.0.1',
    ],
  })

// Code for the page is text: the tests are compiled without the types of a browser.
const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
  console.error('policy: ' + violatedDirective + ' ' + blockedURI)
})`
const TWO_FRAMES = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`
const NOTHING_BUSY = `${TWO_FRAMES}.then(() => !document.querySelector('[aria-busy="true"]'))`
const FOLLOW = `(address) => {
  const link = document.createElement('a')
  link.href = address
  document.body.append(link)
  link.click()
  link.remove()
}`
const TOO_WIDE = 'document.documentElement.scrollWidth > innerWidth'

export const PHONE = { width: 320, height: 640 }
export const DESKTOP = { width: 1280, height: 800 }

export type Visitor = Awaited<ReturnType<typeof visitor>>

/** A browser profile with one tab that records everything that went wrong in it. */
export async function visitor(
  browser: Browser,
  base: string,
  jar: ReadonlyMap<string, string> = new Map(),
  options: BrowserContextOptions = {},
) {
  const context = await browser.newContext({
    viewport: DESKTOP,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    baseURL: base,
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  })
  context.setDefaultTimeout(60_000)
  await context.addCookies([...jar].map(([name, value]) => ({ name, value, url: base })))
  // A violation of the policy is an error of the page.
  await context.addInitScript({ content: REPORT_VIOLATIONS })
  const page = await context.newPage()
  const problems: string[] = []
  const foreign: string[] = []
  let pending = 0
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    pending++
    if (!request.url().startsWith(base) && !request.url().startsWith('data:'))
      foreign.push(request.url())
  })
  page.on('requestfinished', () => pending--)
  page.on('requestfailed', () => pending--)
  /** Waits until the page has its heading and nothing is being read. */
  const settled = async () => {
    await page.waitForSelector('h1')
    // Not by waitForFunction, which the policy of the page forbids to evaluate a text.
    while (!(await page.evaluate(NOTHING_BUSY)) || pending > 0);
  }
  return {
    context,
    page,
    /** Errors and warnings of the console since the last call. */
    problems: () => problems.splice(0),
    /** Requests to other hosts. */
    foreign,
    settled,
    /** Follows a link to another screen of the surface; the page is not loaded again. */
    async follow(address: string) {
      const before = await page.title()
      await page.evaluate(`(${FOLLOW})(${JSON.stringify(address)})`)
      // Each screen has a title of its own, set when the screen starts to read its data.
      while ((await page.title()) === before) await page.evaluate(TWO_FRAMES)
      await settled()
    },
    close: () => context.close(),
  }
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Rules that depend on the colours alone. */
export const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }
const EVERYTHING = { type: 'tag', values: TAGS }

// The page makes the sentences: what axe found in order is a hundred times larger.
const AS_SENTENCES = `({ violations }) => violations.flatMap(({ id, help, nodes }) =>
  nodes.map(({ target, failureSummary }) => id + ' ' + target.join(' ') + ': ' + (failureSummary ?? help)))`

/** The accessibility problems of the page, as sentences. */
export async function axe(
  page: Page,
  { runOnly = EVERYTHING, exclude = [] }: { runOnly?: typeof EVERYTHING; exclude?: string[] } = {},
): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(`${axeSource}; 0`)
  const context = JSON.stringify({ exclude })
  // Frames show mail of strangers. They are sandboxed, so axe cannot talk to them; it would try.
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'], iframes: false })
  return page.evaluate(`axe.run(${context}, ${options}).then(${AS_SENTENCES})`)
}

/** Returns whether the page is wider than its window. */
export const scrollsSideways = async (page: Page): Promise<boolean> =>
  (await page.evaluate(TOO_WIDE)) === true
