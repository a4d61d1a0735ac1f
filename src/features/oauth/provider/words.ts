import type { MailScope } from '../scopes.ts'

const scopes: Record<MailScope, string> = {
  imap: 'Read and organize your mail (IMAP)',
  pop: 'Fetch your mail (POP3)',
  smtp: 'Send mail as you',
  sieve: 'Change your mail filters',
  dav: 'Read and change your calendars and contacts',
  jmap: 'Read, organize and send your mail (JMAP)',
}

const en = {
  signIn: 'Sign in',
  signInTo: (client: string) => `Sign in to ${client}`,
  email: 'E-mail address',
  password: 'Password',
  continue: 'Continue',
  code: 'Code',
  codeTitle: 'Second factor',
  codeHint: 'Enter the code of your authenticator app, or one of your backup codes.',
  wrong: 'The e-mail address or the password is wrong.',
  wrongCode: 'The code is wrong. Sign in again.',
  wait: 'There were too many failed attempts. Try again later.',
  network: 'Your organization does not allow sign-ins from your network address.',
  foreign: 'This program belongs to another organization, and your mailbox cannot use it.',
  mustChange: 'You must choose a new password first. Sign in to your mailbox pages, then return.',
  unavailable: 'The mail server does not respond. Try again in a moment.',
  consentTitle: (client: string) => `Allow ${client}?`,
  asks: 'It asks to:',
  scopes,
  identity: 'See your e-mail address and name',
  offline: 'Keep this access until you end it',
  as: (email: string) => `You are signed in as ${email}.`,
  end: 'You can end the access at any time on your mailbox pages.',
  allow: 'Allow',
  deny: 'Deny',
  deviceTitle: 'Connect a device',
  deviceHint: 'Enter the code that your device shows.',
  deviceWrong: 'This code is unknown, used or expired. Ask your device for a new one.',
  deviceAborted: 'The device was not connected.',
  deviceConfirm: (client: string) => `Connect ${client}?`,
  deviceCompare:
    'Continue only if your device shows this code, and you have just asked it to connect:',
  abort: 'Cancel',
  deviceDone: 'Your device is connected',
  close: 'You can close this page.',
  failed: 'That did not work',
  expired: 'This page has expired. Start again from your program.',
}

export type Words = typeof en

const de: Words = {
  signIn: 'Anmelden',
  signInTo: (client) => `Bei ${client} anmelden`,
  email: 'E-Mail-Adresse',
  password: 'Passwort',
  continue: 'Weiter',
  code: 'Code',
  codeTitle: 'Zweiter Faktor',
  codeHint: 'Geben Sie den Code der Authenticator-App oder einen Ihrer Ersatzcodes ein.',
  wrong: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
  wrongCode: 'Der Code ist falsch. Melden Sie sich noch einmal an.',
  wait: 'Es gab zu viele Fehlversuche. Versuchen Sie es später noch einmal.',
  network: 'Ihre Organisation erlaubt keine Anmeldung von Ihrer Netzwerkadresse.',
  foreign:
    'Dieses Programm gehört zu einer anderen Organisation; Ihr Postfach kann es nicht benutzen.',
  mustChange:
    'Sie müssen zuerst ein neues Passwort wählen. Melden Sie sich auf Ihren Postfachseiten an, und kommen Sie dann zurück.',
  unavailable: 'Der Mailserver antwortet nicht. Versuchen Sie es gleich noch einmal.',
  consentTitle: (client) => `${client} erlauben?`,
  asks: 'Es möchte:',
  scopes: {
    imap: 'Ihre Mail lesen und ordnen (IMAP)',
    pop: 'Ihre Mail abholen (POP3)',
    smtp: 'Mail in Ihrem Namen senden',
    sieve: 'Ihre Mailfilter ändern',
    dav: 'Ihre Kalender und Kontakte lesen und ändern',
    jmap: 'Ihre Mail lesen, ordnen und senden (JMAP)',
  },
  identity: 'Ihre E-Mail-Adresse und Ihren Namen sehen',
  offline: 'Diesen Zugriff behalten, bis Sie ihn beenden',
  as: (email) => `Sie sind als ${email} angemeldet.`,
  end: 'Sie können den Zugriff jederzeit auf Ihren Postfachseiten beenden.',
  allow: 'Erlauben',
  deny: 'Ablehnen',
  deviceTitle: 'Ein Gerät verbinden',
  deviceHint: 'Geben Sie den Code ein, den Ihr Gerät zeigt.',
  deviceWrong:
    'Dieser Code ist unbekannt, benutzt oder abgelaufen. Lassen Sie sich einen neuen zeigen.',
  deviceAborted: 'Das Gerät wurde nicht verbunden.',
  deviceConfirm: (client) => `${client} verbinden?`,
  deviceCompare:
    'Fahren Sie nur fort, wenn Ihr Gerät diesen Code zeigt und Sie es gerade verbinden wollten:',
  abort: 'Abbrechen',
  deviceDone: 'Ihr Gerät ist verbunden',
  close: 'Sie können diese Seite schließen.',
  failed: 'Das hat nicht geklappt',
  expired: 'Diese Seite ist abgelaufen. Beginnen Sie noch einmal in Ihrem Programm.',
}

export const wordsOf = (language: 'en' | 'de'): Words => (language === 'de' ? de : en)
