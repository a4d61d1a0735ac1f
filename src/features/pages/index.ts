import { fileURLToPath } from 'node:url'
import { PROJECT } from '../../project.ts'
import type { Feature } from '../feature.ts'
import { readBuiltFiles } from './built-files.ts'
import { pageRoutes } from './pages.routes.ts'

const FOLDER = fileURLToPath(new URL('dist/web', PROJECT))

/** The web app: pages and the files that they load. */
export const pages = (): Feature => ({
  prefix: '',
  routes: pageRoutes(readBuiltFiles(FOLDER)),
})
