// Writes the packages of the present version to a folder (packages/ unless another one is named): a
// tarball, a Debian package, the bill of materials, and the checksums of all three.
import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeDebianPackage, makeTarball, packageName } from './packages/archives.mjs'
import { billOfMaterials } from './packages/sbom.mjs'
import { assemble } from './packages/tree.mjs'
import { prepare, root } from './prepare.mjs'

/** Returns the names of the files. `level` is the compression of the Debian package. */
export async function writePackages(out, { at = new Date(), level } = {}) {
  await prepare()
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const name = `mailplane-${version}`
  const folder = join(out, name)
  const tarball = `${name}-${process.platform}-${process.arch}.tar.gz`
  const bill = `${name}.cdx.json`
  mkdirSync(out, { recursive: true })
  assemble(folder)
  makeTarball(folder, join(out, tarball), at)
  makeDebianPackage(folder, join(out, packageName(version)), { version, at, level })
  rmSync(folder, { recursive: true, force: true })
  writeFileSync(join(out, bill), `${JSON.stringify(billOfMaterials(version, at), null, 2)}\n`)
  const files = [tarball, packageName(version), bill].sort()
  const sums = files.map((file) => `${hash('sha256', readFileSync(join(out, file)))}  ${file}\n`)
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
  return [...files, 'SHA256SUMS']
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const out = resolve(process.argv[2] ?? join(root, 'packages'))
  for (const file of await writePackages(out)) process.stdout.write(`${join(out, file)}\n`)
}
