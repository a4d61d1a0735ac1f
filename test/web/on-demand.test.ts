import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from './support/chromium.ts'
import { startWorld, type World } from './support/world.ts'

const LATER = '**/assets/app-en-later-*.js'

let world: World
describe.skipIf(!hasChromium)('screens that are loaded on demand', () => {
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world?.stop())

  it('are not loaded with the first screen, and once for all of them', async () => {
    const { page, follow, settled, close } = await world.visit(await world.jars.dashboard())
    const scripts: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('-later-')) scripts.push(request.url())
    })
    await page.goto('/app')
    await settled()
    expect(scripts).toEqual([])
    await follow('/app/migration')
    await follow('/app/templates')
    expect(scripts).toHaveLength(1)
    await close()
  })

  it('offer to load the page again when their script is gone', async () => {
    const { page, close } = await world.visit(await world.jars.dashboard())
    await page.route(LATER, (route) => route.fulfill({ status: 404 }))
    await page.goto('/app/templates')
    await page.getByRole('heading', { level: 1, name: 'could not be loaded' }).waitFor()
    await page.unroute(LATER)
    await page.getByRole('button', { name: 'Load again' }).click()
    await page.getByRole('heading', { level: 1, name: 'Templates' }).waitFor()
    await close()
  })
})
