import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { accountOf, groupOf } from './accounts.ts'
import { clamavFiles } from './clamav.ts'
import { dovecotFiles } from './dovecot.ts'
import { postfixFiles } from './postfix.ts'
import { rspamdFiles } from './rspamd.ts'
import {
  type EdgeSettings,
  type Folders,
  isBackend,
  MAIL_UID,
  type RenderedFile,
} from './settings.ts'

/** The rendered files by server. */
export const renderedFiles = (edge: EdgeSettings): Record<string, RenderedFile[]> => ({
  postfix: postfixFiles(edge),
  dovecot: dovecotFiles(edge),
  rspamd: isBackend(edge) ? [] : rspamdFiles(edge),
  clamav: isBackend(edge) ? [] : clamavFiles(edge),
})

/** Writes the changed files, each atomically. Returns whether any file changed. */
export function writeConfiguration(edge: EdgeSettings): boolean {
  const folders: Record<string, string> = {
    postfix: edge.folders.postfixConfig,
    dovecot: edge.folders.dovecotConfig,
    rspamd: edge.folders.rspamdConfig,
    clamav: edge.folders.clamavConfig,
  }
  let changed = false
  for (const [server, files] of Object.entries(renderedFiles(edge))) {
    if (files.length === 0 && removeUnused(folders[server] as string)) changed = true
    for (const { name, text, readers } of files) {
      const path = join(folders[server] as string, name)
      if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
      changed = true
      mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
      writeFileSync(`${path}.new`, text, { mode: 0o600 })
      if (readers === 'all') chmodSync(`${path}.new`, 0o644)
      else if (readers !== 'none') {
        chownSync(`${path}.new`, 0, groupOf(readers))
        chmodSync(`${path}.new`, 0o640)
      }
      renameSync(`${path}.new`, path)
    }
  }
  return changed
}

/** A server runs while its configuration exists: see serversOf(). */
function removeUnused(folder: string): boolean {
  const existed = existsSync(folder)
  rmSync(folder, { recursive: true, force: true })
  return existed
}

/** Creates the folders of the mail servers with the owners that the servers need. */
export function makeFolders(folders: Folders): void {
  const postfix = accountOf('postfix')
  const postdrop = groupOf('postdrop')
  const rspamd = accountOf('_rspamd')
  const make = (path: string, mode: number, uid = 0, gid = 0) => {
    mkdirSync(path, { recursive: true })
    chownSync(path, uid, gid)
    chmodSync(path, mode)
  }
  for (const path of [folders.dovecotState, folders.postfixQueue]) make(path, 0o755)
  // Logs contain personal data: the servers may enter the folder but not list it.
  make(folders.logs, 0o711)
  make(folders.dovecotRun, 0o755)
  make(folders.mail, 0o700, MAIL_UID, MAIL_UID)
  make(folders.rspamdData, 0o750, rspamd.uid, rspamd.gid)
  make(folders.dkim, 0o700, rspamd.uid, rspamd.gid)
  make(folders.sni, 0o700)
  make(folders.postfixData, 0o700, postfix.uid, postfix.gid)
  // `postfix start` would create these, but takes a second longer.
  for (const name of QUEUES) make(`${folders.postfixQueue}/${name}`, 0o700, postfix.uid)
  make(`${folders.postfixQueue}/pid`, 0o755)
  make(`${folders.postfixQueue}/maildrop`, 0o730, postfix.uid, postdrop)
  make(`${folders.postfixQueue}/public`, 0o710, postfix.uid, postdrop)
  // Exists before the first message, so that the log ingestor can follow it.
  writeFileSync(`${folders.logs}/mail.log`, '', { flag: 'a', mode: 0o600 })
  const log = `${folders.logs}/rspamd.log`
  writeFileSync(log, '', { flag: 'a', mode: 0o600 })
  chownSync(log, rspamd.uid, rspamd.gid)
  if (existsSync(folders.clamavConfig)) {
    const clamav = accountOf('clamav')
    make(folders.clamavData, 0o700, clamav.uid, clamav.gid)
    const clamdLog = `${folders.logs}/clamd.log`
    writeFileSync(clamdLog, '', { flag: 'a', mode: 0o600 })
    chownSync(clamdLog, clamav.uid, clamav.gid)
  }
  if (folders.postfixMeta !== undefined) makePlugin(folders.postfixMeta)
}

const QUEUES = [
  ...['active', 'bounce', 'corrupt', 'defer', 'deferred', 'flush'],
  ...['hold', 'incoming', 'private', 'saved', 'trace'],
]

/**
 * Postfix refuses a plugin that root does not own, which happens in a user namespace. The owner of a
 * copy is always the current user.
 */
function makePlugin(folder: string): void {
  mkdirSync(folder, { recursive: true })
  copyFileSync('/usr/lib/postfix/postfix-pgsql.so', `${folder}/postfix-pgsql.so`)
  const line = `pgsql ${folder}/postfix-pgsql.so dict_pgsql_open\n`
  writeFileSync(`${folder}/dynamicmaps.cf`, line, { mode: 0o644 })
}
