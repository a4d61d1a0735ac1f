import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { axe, COLOURS, DESKTOP, PHONE, type Visitor } from './chromium.ts'

// `npm run screens` sets a folder for the pictures.
const pictures = process.env.MAILPLANE_SCREENS

// The navigation and the account menu, which are the same on every screen of a surface.
const FRAME = '.side'
const FACTS = `({
  headings: document.querySelectorAll('h1').length,
  tooWide: document.documentElement.scrollWidth > innerWidth,
  hacked: window.hacked !== undefined,
})`

/**
 * Opens a page and returns everything that is wrong with it: light, dark, and on a phone. After the
 * first screen of a surface the others are opened by links, and only their own part is examined
 * again in dark and on a phone.
 */
export async function inspected(
  guest: Visitor,
  address: string,
  name: string,
  { isFirst = true }: { isFirst?: boolean } = {},
): Promise<string[]> {
  const { page } = guest
  const exclude = isFirst ? [] : [FRAME]
  if (isFirst) {
    await page.goto(address)
    await guest.settled()
  } else {
    await guest.follow(address)
  }
  const found = await findings(guest, address, [])
  await look(guest, `${name}-light`)
  await page.emulateMedia({ colorScheme: 'dark' })
  const colours = await axe(page, { runOnly: COLOURS, exclude })
  found.push(...colours.map((problem) => `dark: ${problem}`))
  await look(guest, `${name}-dark`)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(PHONE)
  await guest.settled()
  found.push(...(await findings(guest, address, exclude)).map((problem) => `phone: ${problem}`))
  await look(guest, `${name}-phone`)
  await page.setViewportSize(DESKTOP)
  return found.map((finding) => `${address}: ${finding}`)
}

/** Everything that is wrong with the page as it is shown. */
async function findings(guest: Visitor, address: string, exclude: string[]): Promise<string[]> {
  const { page } = guest
  const problems = await axe(page, { exclude })
  const { headings, tooWide, hacked } = (await page.evaluate(FACTS)) as {
    headings: number
    tooWide: boolean
    hacked: boolean
  }
  return [
    ...problems,
    ...guest.problems().map((problem) => `console: ${problem}`),
    ...guest.foreign.map((url) => `request to another host: ${url}`),
    ...(headings === 1 ? [] : ['not exactly one h1']),
    ...(tooWide ? ['scrolls sideways'] : []),
    ...(hacked ? ['a hostile name ran as code'] : []),
    ...(new URL(page.url()).pathname === new URL(address, page.url()).pathname
      ? []
      : [`went to ${page.url()}`]),
  ]
}

async function look({ page }: Visitor, name: string): Promise<void> {
  if (!pictures) return
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })
}
