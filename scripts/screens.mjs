// Makes pictures of every screen in light, dark and at phone width, in the folder `screens`.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { installChromium } from './chromium.mjs'
import { bundledNode, prepare, root } from './prepare.mjs'

await prepare()
installChromium()
const folder = join(root, 'screens')
rmSync(folder, { recursive: true, force: true })
const { status } = spawnSync(
  bundledNode() ?? process.execPath,
  [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', 'web'],
  { cwd: root, env: { ...process.env, MAILPLANE_SCREENS: folder }, stdio: 'inherit' },
)
process.stdout.write(`pictures: ${folder}\n`)
process.exitCode = status ?? 1
