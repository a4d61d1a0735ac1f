import { marker, markers, textsOf } from './marker.ts'
import { lines, quoted, required } from './text.ts'

const NAME = 'svc-forwarding'

export const MAX_ADDRESSES = 5

export interface Forwarding {
  enabled: boolean
  addresses: string[]
  keep_copy: boolean
}

const none: Forwarding = { enabled: false, addresses: [], keep_copy: true }

/** Writes no `keep` when it is off: that would add a copy of a message that a rule has moved. */
export const forwarding = {
  name: NAME,
  none,

  write: ({ enabled, addresses, keep_copy }: Forwarding): string =>
    lines(
      marker(NAME, { enabled, addresses, keep_copy }),
      !enabled || addresses.length === 0
        ? ['# Nothing is forwarded.']
        : [
            ...(keep_copy ? [required(['copy'])] : []),
            ...addresses.map((to) => `redirect ${keep_copy ? ':copy ' : ''}${quoted(to)};`),
          ],
    ),

  read(script: string): Forwarding {
    const [settings] = markers(script, NAME)
    return settings
      ? {
          enabled: settings.enabled === true,
          addresses: textsOf(settings.addresses),
          keep_copy: settings.keep_copy !== false,
        }
      : none
  },
}
