import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { axe, COLOURS, DESKTOP, PHONE, scrollsSideways, type Visitor } from './chromium.ts'

// `npm run screens` sets a folder for the pictures.
const pictures = process.env.MAILPLANE_SCREENS

/** Opens a page and returns everything that is wrong with it: light, dark, and on a phone. */
export async function inspected(guest: Visitor, address: string, name: string): Promise<string[]> {
  const { page } = guest
  await page.goto(address)
  await guest.settled()
  const found = await findings(guest, address)
  await look(guest, `${name}-light`)
  await page.emulateMedia({ colorScheme: 'dark' })
  found.push(...(await axe(page, COLOURS)).map((problem) => `dark: ${problem}`))
  await look(guest, `${name}-dark`)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(PHONE)
  await guest.settled()
  found.push(...(await findings(guest, address)).map((problem) => `phone: ${problem}`))
  await look(guest, `${name}-phone`)
  await page.setViewportSize(DESKTOP)
  return found.map((finding) => `${address}: ${finding}`)
}

/** Everything that is wrong with the page as it is shown. */
async function findings(guest: Visitor, address: string): Promise<string[]> {
  const { page } = guest
  return [
    ...(await axe(page)),
    ...guest.problems().map((problem) => `console: ${problem}`),
    ...guest.foreign.map((url) => `request to another host: ${url}`),
    ...((await page.locator('h1').count()) === 1 ? [] : ['not exactly one h1']),
    ...((await scrollsSideways(page)) ? ['scrolls sideways'] : []),
    ...((await page.evaluate('window.hacked')) === undefined ? [] : ['a hostile name ran as code']),
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
