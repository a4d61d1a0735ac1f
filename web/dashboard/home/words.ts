import { number, percent } from '../../lib/format.ts'
import { plural } from '../../lib/language.ts'

const en = {
  title: 'Overview',
  works: 'Mail is working',
  check: 'Needs attention',
  delivered: 'Delivered',
  received: 'Received',
  bounced: 'Bounced',
  deferred: 'Deferred',
  waiting: 'Waiting now',
  waitingNote: 'Another attempt follows',
  ofSent: (share: number) => `${percent(share)} of sent mail`,
  mail: 'Mail by day',
  noMail: 'No mail in this time',
  noMailHint: 'Set up a mail program with a mailbox, or let an application send with a login.',
  mailboxes: 'Mailboxes',
  credentials: 'SMTP credentials',
  domains: 'Domains',
  storage: 'Storage',
  attention: 'Needs attention',
  allWell: 'Everything is in order',
  allWellHint:
    'All domains are verified, no mailbox is full or suspended, and nothing expires soon.',
  notices: {
    domain_unproven: (domain: string) =>
      `The ownership of ${domain} is not proven: it gets no mail yet.`,
    domain_unverified: (domain: string) => `DNS records of ${domain} are missing or different.`,
    storage_full: (_: string, used: string) => `${used} of the storage is used.`,
    mailbox_full: (email: string, used: string) =>
      `${email} is ${used} full. Without space it gets no more mail.`,
    webhook_failing: (name: string) => `The endpoint ${name} does not accept events.`,
    credential_expiring: (name: string) => `The SMTP credential ${name} expires:`,
    api_key_expiring: (name: string) => `The API key ${name} expires:`,
  },
  suspended: (count: number) =>
    `${number(count)} ${plural(count, 'mailbox is', 'mailboxes are')} suspended.`,
  bouncing: (share: number) =>
    `${percent(share)} of the sent mail bounced. Too many bounces harm the reputation of your domains.`,
  checkDns: 'Check DNS',
  show: 'Show',
}

const de: typeof en = {
  title: 'Übersicht',
  works: 'Mail funktioniert',
  check: 'Braucht Aufmerksamkeit',
  delivered: 'Zugestellt',
  received: 'Empfangen',
  bounced: 'Unzustellbar',
  deferred: 'Zurückgestellt',
  waiting: 'Wartet jetzt',
  waitingNote: 'Ein weiterer Versuch folgt',
  ofSent: (share) => `${percent(share)} der gesendeten Mail`,
  mail: 'Mail nach Tagen',
  noMail: 'Keine Mail in dieser Zeit',
  noMailHint: 'Richten Sie ein Mailprogramm ein, oder lassen Sie eine Anwendung senden.',
  mailboxes: 'Postfächer',
  credentials: 'SMTP-Zugänge',
  domains: 'Domains',
  storage: 'Speicher',
  attention: 'Braucht Aufmerksamkeit',
  allWell: 'Alles ist in Ordnung',
  allWellHint: 'Alle Domains sind bestätigt, kein Postfach ist voll, nichts läuft bald ab.',
  notices: {
    domain_unproven: (domain) =>
      `Der Besitz von ${domain} ist nicht nachgewiesen: Sie erhält noch keine Mail.`,
    domain_unverified: (domain) => `DNS-Einträge von ${domain} fehlen oder sind anders.`,
    storage_full: (_, used) => `${used} des Speichers sind belegt.`,
    mailbox_full: (email, used) =>
      `${email} ist zu ${used} voll. Ohne Platz erhält es keine Mail mehr.`,
    webhook_failing: (name) => `Der Endpunkt ${name} nimmt keine Ereignisse an.`,
    credential_expiring: (name) => `Der SMTP-Zugang ${name} läuft ab:`,
    api_key_expiring: (name) => `Der API-Schlüssel ${name} läuft ab:`,
  },
  suspended: (count) =>
    `${number(count)} ${plural(count, 'Postfach ist', 'Postfächer sind')} gesperrt.`,
  bouncing: (share) =>
    `${percent(share)} der gesendeten Mail war unzustellbar. Zu viele davon schaden dem Ruf Ihrer Domains.`,
  checkDns: 'DNS prüfen',
  show: 'Zeigen',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
