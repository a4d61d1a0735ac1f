import { join } from 'node:path'
import { ROOT } from './documentation.ts'
import { temporaryFolder } from './process.ts'
import { runProgram } from './programs.ts'

/** Writes the Debian package of the built program, with little compression. */
export function makePackage(file: string): void {
  const tree = join(temporaryFolder(), 'tree')
  const at = (name: string) => join(ROOT, 'scripts', 'packages', name)
  const script = `
    import { assemble } from '${at('tree.mjs')}'
    import { makeDebianPackage } from '${at('archives.mjs')}'
    assemble('${tree}')
    makeDebianPackage('${tree}', '${file}', { version: '1.0.0', at: new Date(), level: 1 })`
  runProgram(process.execPath, ['--input-type=module', '--eval', script])
}
