import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasChromium } from './support/chromium.ts'
import { inspected } from './support/inspect.ts'
import { screensOf } from './support/screens.ts'
import { addressOf } from './support/seed.ts'
import { startWorld, type World } from './support/world.ts'

const SURFACES = { dashboard: 'dashboard', console: 'operator', mailbox: 'mailbox' } as const
// Colours that are still changing would be measured half-way.
const STILL = { reducedMotion: 'reduce' as const }

const surfaces = await Promise.all(
  Object.entries(SURFACES).map(async ([folder, kind]) => ({
    folder,
    kind,
    // Mail needs a mail server: webmail.test.ts opens its screens.
    screens: (await screensOf(folder as keyof typeof SURFACES)).filter(
      ({ capability }) => capability !== 'mail',
    ),
  })),
)

let world: World
describe.skipIf(!hasChromium)('every screen', () => {
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world?.stop())

  it.each(surfaces)('is in order on the surface $folder', async ({ folder, kind, screens }) => {
    const guest = await world.visit(await world.jars[kind](), STILL)
    const titles = new Set<string>()
    const found: string[] = []
    for (const [index, { path }] of screens.entries()) {
      const address = addressOf(path, world.samples)
      const name = `${folder}${path.replaceAll(/[/:]+/g, '-')}`
      found.push(...(await inspected(guest, address, name, { isFirst: index === 0 })))
      titles.add(await guest.page.title())
    }
    expect(found).toEqual([])
    expect([...titles], 'each screen has a title of its own').toHaveLength(screens.length)
    await guest.close()
  })

  it('is in order on the sign-in page', async () => {
    const guest = await world.visit(undefined, STILL)
    for (const as of Object.values(SURFACES)) {
      expect(await inspected(guest, `/?as=${as}`, `start-${as}`)).toEqual([])
    }
    await guest.close()
  })
})
