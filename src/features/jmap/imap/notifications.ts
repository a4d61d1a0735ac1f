import type { Core } from '../../../core.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { connectImap } from '../../../mail/imap/connect.ts'
import { serverOf } from './connection.ts'

const KEEP_ALIVE_MS = 4 * MINUTE_MS
const EVENTS = 'MessageNew MessageExpunge FlagChange MailboxName SubscriptionChange'

/**
 * Calls `changed` whenever the mail server reports a change in any folder (RFC 5465), until the signal
 * or the end of the connection. The reports are not read: a comparison finds out what they mean.
 */
export async function listenForChanges(
  needs: Pick<Core, 'config' | 'mailServers'>,
  address: string,
  signal: AbortSignal,
  changed: () => void,
): Promise<void> {
  const client = await connectImap(serverOf(needs, address), signal)
  const { readSocket, writeSocket, socket } = client.unbind()
  const close = () => socket.destroy()
  signal.addEventListener('abort', close, { once: true })
  const timer = setInterval(() => writeSocket.write('K NOOP\r\n'), KEEP_ALIVE_MS)
  timer.unref()
  try {
    await new Promise<void>((resolve) => {
      readSocket.on('data', (chunk: Buffer) => {
        changed()
        // Without NOTIFY the caller connects again, and compares each time.
        if (/^N (NO|BAD)/m.test(chunk.toString('latin1'))) resolve()
      })
      readSocket.on('error', () => resolve())
      socket.on('error', () => resolve())
      readSocket.on('close', () => resolve())
      writeSocket.write(`C ENABLE CONDSTORE\r\nN NOTIFY SET STATUS (personal (${EVENTS}))\r\n`)
      readSocket.resume()
      if (signal.aborted) resolve()
    })
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', close)
    close()
  }
}
