// Installs Chromium for the web lane from Debian if it is missing and this runs as root.
import { existsSync } from 'node:fs'
import { aptInstall, canInstall } from './apt.mjs'

const isMissing = () => !existsSync('/usr/bin/chromium')

export function installChromium() {
  if (!isMissing()) return
  if (!canInstall()) {
    process.stderr.write('web lane: skipped, as root run: apt-get install chromium\n')
    return
  }
  process.stderr.write('web lane: installing chromium …\n')
  aptInstall(['chromium'])
  if (isMissing()) process.stderr.write('web lane: skipped, could not install chromium\n')
}
