import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startContentFilter } from '../../src/daemons/content-filter.ts'
import { schedulingStage } from '../../src/features/caldav/scheduling/scheduling.stage.ts'
import { spamFilter } from '../../src/features/message-trace/spam.stage.ts'
import { transportRulesStage } from '../../src/features/transport-rules/stage.ts'
import { freePort } from '../../src/lib/free-port.ts'
import { originKey } from '../../src/mail/origin.ts'
import { startDav } from './dav.ts'
import { startReinjectSink } from './reinject-sink.ts'
import { openSmtp } from './smtp-client.ts'

/** An event with an organizer and attendees; `lines` are added to it. */
export const meeting = (
  uid: string,
  organizer: string,
  attendees: readonly string[],
  ...lines: string[]
) =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//test//EN',
    'BEGIN:VEVENT',
    `UID:${uid}`,
    ...(lines.some((line) => line.startsWith('DTSTAMP')) ? [] : ['DTSTAMP:20261101T000000Z']),
    ...(lines.some((line) => line.startsWith('DTSTART')) ? [] : ['DTSTART:20261201T100000Z']),
    'SUMMARY:Budget',
    `ORGANIZER;CN=Organizer:mailto:${organizer}`,
    ...attendees.map((one) =>
      one.includes(':') ? one : `ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:${one}`,
    ),
    ...lines,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ].join('\r\n')

/** The calendar in a mail that this host has written. */
export function calendarIn(content: string): string {
  const part = /Content-Type: text\/calendar[^\r]*\r\n(?:[^\r]+\r\n)*\r\n([\s\S]*?)\r\n--/.exec(
    content,
  )
  // Long lines are folded.
  return Buffer.from(part?.[1] ?? '', 'base64')
    .toString()
    .replace(/\r\n /g, '')
}

/** A mail with a calendar, as other hosts send them. */
export const invitationMail = (from: string, method: string, calendar: string) =>
  [
    `From: Somebody <${from}>`,
    'To: <you@here.test>',
    'Subject: Budget',
    `Message-ID: <${Math.random()}@elsewhere.test>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'An invitation.',
    '--b',
    `Content-Type: text/calendar; charset=utf-8; method=${method}`,
    '',
    calendar.replace('BEGIN:VCALENDAR', `BEGIN:VCALENDAR\r\nMETHOD:${method}`),
    '--b--',
    '',
  ].join('\r\n')

/**
 * Calendars with the mail servers around them: `sent` is what the calendars send, `delivered` what the
 * content filter passes on, `rspamd` the verdict about the next incoming mail.
 */
export async function startInvitations() {
  const sent = await startReinjectSink()
  const delivered = await startReinjectSink()
  const symbols: Record<string, { options: string[] }> = {}
  const rspamd = { symbols, action: 'no action', score: 0 }
  const judge = createServer((request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify(rspamd)))
  })
  await new Promise<void>((resolve) => judge.listen(0, '127.0.0.1', resolve))
  const port = String(delivered.port)
  const filterPort = await freePort()
  const dav = await startDav({
    MAIL_REINJECT_HOST: '127.0.0.1',
    MAIL_SERVICE_PORT: String(sent.port),
    MAIL_REINJECT_PORT: port,
    MAIL_FILTERED_PORT: port,
    CONTENT_FILTER_PORT: String(filterPort),
    RSPAMD_URL: `http://127.0.0.1:${(judge.address() as AddressInfo).port}`,
  })
  const { core } = dav.app
  const stages = [spamFilter(core), transportRulesStage(core), schedulingStage(core)]
  const filter = await startContentFilter(core, stages)

  async function pass(from: string, to: string | string[], text: string): Promise<string> {
    const postfix = await openSmtp({ port: filterPort })
    try {
      return (await postfix.send({ from, to, text })).text
    } finally {
      postfix.quit()
    }
  }

  return {
    ...dav,
    sent,
    delivered,
    rspamd,
    /** Mail from another host; its domain is verified unless the test says otherwise. */
    arrive(
      from: string,
      to: string | string[],
      method: string,
      calendar: string,
      verified = from.split('@')[1] as string,
    ) {
      rspamd.symbols = verified === '' ? {} : { R_DKIM_ALLOW: { options: [`${verified}:s=k`] } }
      return pass(from, to, invitationMail(from, method, calendar))
    },
    /** Mail of a login of this host. */
    submit(login: string, to: string | string[], text: string) {
      rspamd.symbols = {}
      const origin = `X-Mailplane-Origin: ${originKey(core.vault)} ${login}\r\n`
      return pass(login, to, origin + text)
    },
    async stop() {
      await filter.stop()
      await dav.stop()
      await sent.stop()
      await delivered.stop()
      await new Promise((resolve) => judge.close(resolve))
    },
  }
}
