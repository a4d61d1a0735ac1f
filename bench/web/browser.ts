export const CHROMIUM = '/usr/bin/chromium'

/** Without a sandbox, which root cannot have, and without calls of the browser's own. */
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
