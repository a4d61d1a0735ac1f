import { isAddress } from './address.ts'
import { marker, markers, textsOf } from './marker.ts'
import { lines, quoted, quotedList, required } from './text.ts'

const NAME = 'svc-blocked-senders'
export const JUNK = 'Junk'

/** Files mail of blocked addresses into Junk and stops, so that no later component runs. */
export const blockedSenders = {
  name: NAME,
  none: [] as string[],

  write: (addresses: readonly string[]): string =>
    lines(
      marker(NAME, { addresses }),
      addresses.length === 0
        ? ['# No sender is blocked.']
        : [
            required(['fileinto', 'mailbox']),
            `if address :is :all "from" ${quotedList(addresses)} {`,
            `  fileinto :create ${quoted(JUNK)};`,
            '  stop;',
            '}',
          ],
    ),

  read: (script: string): string[] =>
    textsOf(markers(script, NAME)[0]?.addresses).filter((one) => isAddress(one)),
}
