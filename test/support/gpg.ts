import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const gpgMissing =
  spawnSync('gpg', ['--version']).status === 0 ? undefined : 'gpg is not installed'

export type Gpg = ReturnType<typeof startGpg>

/** GnuPG with a key ring of its own. */
export function startGpg() {
  const home = mkdtempSync(join(tmpdir(), 'mailplane-gpg-'))
  chmodSync(home, 0o700)
  const common = ['--homedir', home, '--batch', '--yes', '--quiet', '--pinentry-mode', 'loopback']
  return {
    home,
    /** Rejects unless it exits with 0; `output` has both streams. */
    run: (args: readonly string[], input: string | Buffer = '') =>
      new Promise<{ stdout: string; output: string }>((resolve, reject) => {
        const child = execFile(
          'gpg',
          [...common, ...args],
          { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
          (error, stdout, stderr) => {
            if (error) reject(new Error(`gpg ${args.join(' ')}: ${stderr}`, { cause: error }))
            else resolve({ stdout, output: stdout + stderr })
          },
        )
        // A program that fails may not read its input; its exit code says so.
        child.stdin?.on('error', () => {}).end(input)
      }),
    /** The agent of this key ring is its own process. */
    stop() {
      spawnSync('gpgconf', ['--homedir', home, '--kill', 'all'])
      rmSync(home, { recursive: true, force: true })
    },
  }
}
