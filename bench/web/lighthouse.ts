import { createServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { CHROMIUM, FLAGS } from './browser.ts'
import type { Installation } from './installation.ts'

const CATEGORIES = ['performance', 'accessibility', 'best-practices'] as const

export interface Scores {
  page: string
  /** Out of 100, in the order of the categories. */
  scores: number[]
  /** Audits that cost points. */
  lost: string[]
}

interface Lhr {
  categories: Record<string, { score: number | null; auditRefs: { id: string; weight: number }[] }>
  audits: Record<string, { score: number | null; displayValue?: string }>
}
type Lighthouse = (url: string, flags: object) => Promise<{ lhr: Lhr } | undefined>

/** The scores of Lighthouse for a phone, from a folder with an installed `lighthouse`. */
export async function lighthouseScores(
  folder: string,
  { url, cookies, pages }: Installation,
): Promise<Scores[]> {
  const file = join(folder, 'node_modules', 'lighthouse', 'core', 'index.js')
  const { default: lighthouse } = (await import(pathToFileURL(file).href)) as {
    default: Lighthouse
  }
  const port = await freePort()
  // The pages are opened in the profile of the browser, which has the cookies.
  const context = await chromium.launchPersistentContext('', {
    executablePath: CHROMIUM,
    args: [...FLAGS, `--remote-debugging-port=${port}`],
  })
  try {
    await context.addCookies(cookies)
    const found: Scores[] = []
    for (const [page, path] of Object.entries(pages)) {
      const flags = {
        port,
        onlyCategories: CATEGORIES,
        disableStorageReset: true,
        logLevel: 'error',
      }
      const result = await lighthouse(url + path, flags)
      if (!result) throw new Error(`Lighthouse has no result for ${path}`)
      found.push({ page, ...scoresOf(result.lhr) })
    }
    return found
  } finally {
    await context.close()
  }
}

function scoresOf({ categories, audits }: Lhr) {
  const lost = CATEGORIES.flatMap((name) =>
    (categories[name]?.auditRefs ?? [])
      .filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 0.9)
      .map(({ id }) => [id, audits[id]?.displayValue].filter(Boolean).join(' ')),
  )
  const scores = CATEGORIES.map((name) => Math.round((categories[name]?.score ?? 0) * 100))
  return { scores, lost }
}

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
