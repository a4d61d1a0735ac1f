import { fileURLToPath } from 'node:url'
import { PROJECT } from '../../project.ts'
import type { Feature } from '../feature.ts'
import { readBuiltFiles } from './built-files.ts'
import { hashedFiles, pageRoutes } from './pages.routes.ts'

const FOLDER = fileURLToPath(new URL('dist/web', PROJECT))

/** The web app: pages and the files that they load. */
export function pages(): Feature {
  const built = readBuiltFiles(FOLDER)
  return { prefix: '', routes: pageRoutes(built), files: hashedFiles(built) }
}
