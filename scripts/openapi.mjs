// Writes openapi/v1.json and openapi/routes.txt from the routes, and the types of the web app from
// them. With `--check` it only compares.
// Clients rely on the committed v1.json, so a breaking change is written only with
// `--allow-breaking`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { documentedFeatures } from '../src/daemons/documented-features.ts'
import { breakingChanges } from '../src/openapi/breaking.ts'
import { openApiDocument } from '../src/openapi/document.ts'
import { describeRoutes } from '../src/openapi/generate.ts'
import { routeList } from '../src/openapi/route-list.ts'
import { root } from './prepare.mjs'
import { webTypes } from './web-types.mjs'

const documentFile = join(root, 'openapi', 'v1.json')
const routesFile = join(root, 'openapi', 'routes.txt')
const webTypesFile = join(root, 'web', 'api', 'schema.ts')
const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')

const routes = await describeRoutes(await documentedFeatures())
const document = openApiDocument(routes)
const documentText = `${JSON.stringify(document, null, 2)}\n`
const routesText = routeList(routes)
const before = read(documentFile)
const broken = before === '' ? [] : breakingChanges(JSON.parse(before), document)
const allowed = process.argv.includes('--allow-breaking')

for (const change of broken) process.stderr.write(`breaks a promise of /api/v1: ${change}\n`)
if (process.argv.includes('--check')) {
  if (before !== documentText || read(routesFile) !== routesText) {
    fail('openapi/ differs from the routes; run npm run openapi and read the diff')
  }
  if (read(webTypesFile) !== webTypes(document)) {
    fail('web/api/schema.ts differs from openapi/v1.json; run npm run openapi')
  }
} else if (broken.length > 0 && !allowed) {
  fail('nothing was written; change the code, or run npm run openapi -- --allow-breaking')
} else {
  writeFileSync(documentFile, documentText)
  writeFileSync(routesFile, routesText)
  writeFileSync(webTypesFile, webTypes(document))
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
