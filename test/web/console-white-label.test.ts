import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { axe, hasChromium } from './support/chromium.ts'
import { startWorld, type World } from './support/world.ts'

const HOST = 'mail.brand.test'
const ICON = 'https://mail.brand.test/icon.png'
const HUE = `getComputedStyle(document.documentElement).getPropertyValue('--accent-h').trim()`

let world: World
describe.skipIf(!hasChromium)('a white label', () => {
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world?.stop())

  const signInPage = async () => {
    const guest = await world.visit()
    await guest.page.goto(`http://${HOST}:${new URL(world.app.base).port}/`)
    await guest.settled()
    return guest
  }

  it('is edited with a live preview, and shown on its host once that is verified', async () => {
    const { page, problems, close } = await world.visit(await world.jars.operator('admin'))
    await page.goto('/console/white-label')
    await page.getByRole('link', { name: 'acme', exact: true }).click()
    await page.getByLabel('Name', { exact: true }).fill('Acme <Mail>')
    await page.getByLabel('Colour').fill('#c2185b')
    const sample = page.locator('.sample')
    await sample.getByText('Acme <Mail>').waitFor()
    const sampleHue = `getComputedStyle(document.querySelector('.sample')).getPropertyValue('--accent-h')`
    expect(Number(await page.evaluate(sampleHue))).toBeLessThan(30)
    await page.getByLabel('Host name').fill(HOST)
    await page.getByLabel('Address of the icon').fill(ICON)
    await page.getByLabel('Email of the support').fill('help@acme.test')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The white label is saved').waitFor()
    expect(await page.locator('iframe').getAttribute('sandbox')).toBe('')
    await page.frameLocator('iframe').getByRole('heading', { name: 'Acme <Mail>' }).waitFor()

    const before = await signInPage()
    expect(await before.page.title(), 'a host that is not proven').toContain('Mailplane')
    await before.close()

    await page.getByRole('button', { name: 'Check the host' }).click()
    await page.getByText('No CNAME was found').waitFor()
    world.dns.state.records[HOST] = { CNAME: [world.app.core.config.SVC_MAIL_HOSTNAME] }
    await page.getByRole('button', { name: 'Check the host' }).click()
    await page.getByText('CNAME verified').waitFor()
    expect([...(await axe(page)), ...problems()]).toEqual([])
    await close()

    const after = await signInPage()
    await after.page.getByRole('heading', { name: 'Sign in to Acme <Mail>' }).waitFor()
    await after.page.getByRole('link', { name: 'help@acme.test' }).waitFor()
    expect(await after.page.title()).toBe('Sign in to Acme <Mail> · Acme <Mail>')
    expect(Number(await after.page.evaluate(HUE))).toBeLessThan(30)
    expect(await after.page.locator('link[rel=icon]').getAttribute('href')).toBe(ICON)
    // The browser ignores this header on a host without https, and finds no icon there; it says so.
    const expected = /Cross-Origin-Opener-Policy|ERR_CONNECTION_REFUSED/
    const other = after.problems().filter((one) => !expected.test(one))
    expect([...(await axe(after.page)), ...other]).toEqual([])
    await after.close()
  })

  it('does not exist for operators who may not change it', async () => {
    const { page, close } = await world.visit(await world.jars.operator('operator'))
    await page.goto('/console/white-label')
    await page.getByRole('heading', { name: 'There is nothing here' }).first().waitFor()
    await close()
  })
})
