import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import { hasChromium, PHONE, scrollsSideways, startChromium, visitor } from './support/chromium.ts'

// Code for the page is text: the tests are compiled without the types of a browser.
const GROUPS = `[...document.querySelectorAll('.opblock-tag')].map((tag) => tag.dataset.tag)`

let app: App
let browser: Browser
beforeAll(async () => {
  if (!hasChromium) return
  app = await startApp()
  browser = await startChromium()
})
afterAll(async () => {
  await browser?.close()
  await app?.stop()
})

// Finding N18.
describe.runIf(hasChromium)('the reference at /docs', () => {
  it('shows the first operation, and the groups for readers before internal ones', async () => {
    const { page, problems, foreign, close } = await visitor(browser, app.base)
    await page.goto('/docs')
    await page.waitForSelector('.opblock')
    const paths = await page.locator('.opblock-summary-path').allTextContents()
    const open = new Set(paths.map((path) => path.replace(/\u200b/g, '')))
    expect([...open]).toEqual(['/api/v1/bootstrap/'])
    const groups = await page.evaluate(GROUPS)
    expect((groups as string[])[0]).toBe('bootstrap')
    expect((groups as string[]).slice(-2)).toEqual(['meta', 'internal'])
    expect({ problems: problems(), foreign }).toEqual({ problems: [], foreign: [] })
    await close()
  })

  it('opens the authorize dialog at the API key', async () => {
    const { page, close } = await visitor(browser, app.base)
    await page.goto('/docs')
    await page.click('.auth-wrapper .authorize')
    const first = '.dialog-ux .auth-container input'
    await page.waitForSelector(first)
    await page.waitForFunction(`document.activeElement === document.querySelector('${first}')`)
    expect(await page.locator('.dialog-ux h4').first().textContent()).toContain('ApiKey')
    await close()
  })

  it('is not wider than a phone, also with an open operation', async () => {
    const { page, close } = await visitor(browser, app.base, undefined, { viewport: PHONE })
    await page.goto('/docs')
    await page.waitForSelector('.opblock')
    expect(await scrollsSideways(page)).toBe(false)
    await page.click('.opblock-post .opblock-summary-control')
    await page.waitForSelector('.opblock-body .responses-wrapper')
    expect(await scrollsSideways(page)).toBe(false)
    expect(await page.locator('.opblock-body').textContent()).toContain('Invalid bootstrap token')
    expect(await page.locator('.body-param__text').inputValue()).toContain('"admin_email"')
    await close()
  })
})
