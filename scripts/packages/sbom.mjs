// The bill of materials of a release in CycloneDX 1.5, from the lock file: the packages that run on a
// host, and those of the web app that the build joins into dist/.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../prepare.mjs'
import { JOINED } from './tree.mjs'

export function billOfMaterials(version, at) {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const { packages } = JSON.parse(text)
  const { description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const shipped = Object.entries(packages).filter(
    ([path, { dev }]) => path !== '' && (!dev || JOINED.includes(path)),
  )
  const components = new Map(
    shipped.map(([path, one]) => {
      const component = componentOf(path, one)
      return [component['bom-ref'], component]
    }),
  )
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuidOf(`${version} ${text}`)}`,
    version: 1,
    metadata: {
      timestamp: at.toISOString(),
      component: {
        'bom-ref': `mailplane@${version}`,
        type: 'application',
        name: 'mailplane',
        version,
        description,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components: [...components.values()].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
  }
}

function componentOf(path, { version, license, integrity, optional, name: alias }) {
  const name = alias ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const [, sum] = /^sha512-(\S+)/.exec(integrity ?? '') ?? []
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: optional ? 'optional' : 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(sum && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(sum, 'base64').toString('hex') }],
    }),
    ...(license && { licenses: [licenseOf(license)] }),
  }
}

/** An expression such as "(MIT OR Apache-2.0)" is not an identifier. */
const licenseOf = (license) =>
  / (OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } }

/** The same release has the same number, however often it is built. */
function uuidOf(text) {
  const sum = hash('sha256', text)
  return [
    sum.slice(0, 8),
    sum.slice(8, 12),
    `5${sum.slice(13, 16)}`,
    `8${sum.slice(17, 20)}`,
    sum.slice(20, 32),
  ].join('-')
}
