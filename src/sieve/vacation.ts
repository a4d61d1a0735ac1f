import { marker, markers, textOf } from './marker.ts'
import { lines, quoted, quotedLine, required } from './text.ts'

const NAME = 'svc-vacation'

export interface Vacation {
  enabled: boolean
  subject: string | null
  message: string | null
  start_date: string | null
  end_date: string | null
}

const none: Vacation = {
  enabled: false,
  subject: null,
  message: null,
  start_date: null,
  end_date: null,
}

/** One reply per sender and day. RFC 5230 §4.6: lists, bulk and automatic mail get none. */
export const vacation = {
  name: NAME,
  none,

  write: (settings: Vacation, ownAddress: string): string =>
    lines(
      marker(NAME, settings),
      settings.enabled && settings.message
        ? [
            required(['vacation']),
            reply({
              days: 1,
              address: ownAddress,
              subject: settings.subject,
              message: settings.message,
            }),
          ]
        : ['# No replies.'],
    ),

  read(script: string): Vacation {
    const [settings] = markers(script, NAME)
    if (!settings) return none
    return {
      enabled: settings.enabled === true,
      subject: textOf(settings.subject),
      message: textOf(settings.message),
      start_date: textOf(settings.start_date),
      end_date: textOf(settings.end_date),
    }
  },
}

interface Reply {
  days: number
  address: string
  subject: string | null
  message: string
}

/** Without a subject the mail server makes one: `Auto: ` before the original. */
export const reply = ({ days, address, subject, message }: Reply): string => {
  const title = subject === null ? '""' : quotedLine(subject)
  return [
    `vacation :days ${days} :addresses ${quoted(address)}`,
    ...(title === '""' ? [] : [`:subject ${title}`]),
    `${quoted(message)};`,
  ].join(' ')
}
