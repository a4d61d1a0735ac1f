const en = {
  title: 'App passwords',
  hint: 'A password for one program: your phone, a calendar, a printer that sends mail. You can revoke it without changing anything else. Your own password stays with you.',
  withFactor:
    'Your second factor is on. Mail programs cannot send a code, so each of them needs an app password.',
  add: 'New app password',
  name: 'Name',
  nameHint: 'The program or device, so that you recognize it later',
  scopes: 'May be used for',
  scope: {
    imap: 'Reading mail (IMAP, POP3)',
    smtp: 'Sending mail (SMTP)',
    sieve: 'Filters (ManageSieve)',
    dav: 'Calendars and contacts',
    jmap: 'JMAP',
  },
  short: { imap: 'Reading', smtp: 'Sending', sieve: 'Filters', dav: 'Calendars', jmap: 'JMAP' },
  created: 'Created',
  lastUsed: 'Last used',
  never: 'Never',
  lastUse: (service: string, ip: string) => `${service}, from ${ip}`,
  revoke: 'Revoke',
  revokeTitle: (name: string) => `Revoke “${name}”?`,
  revokeHint: 'The program that uses it can no longer log in.',
  revoked: (name: string) => `“${name}” is revoked`,
  secretTitle: 'Your new app password',
  secretHint: 'Enter it in the program in place of your password. The user name is your address.',
  none: 'No app passwords',
  noneHint: 'Programs that support it can sign in without one, through your browser.',
}

const de: typeof en = {
  title: 'App-Passwörter',
  hint: 'Ein Passwort für ein einzelnes Programm: das Telefon, einen Kalender, einen Drucker, der Mail sendet. Sie können es widerrufen, ohne sonst etwas zu ändern. Ihr eigenes Passwort bleibt bei Ihnen.',
  withFactor:
    'Ihr zweiter Faktor ist eingeschaltet. Mailprogramme können keinen Code senden, deshalb braucht jedes ein App-Passwort.',
  add: 'Neues App-Passwort',
  name: 'Name',
  nameHint: 'Das Programm oder Gerät, damit Sie es später erkennen',
  scopes: 'Gilt für',
  scope: {
    imap: 'Mail lesen (IMAP, POP3)',
    smtp: 'Mail senden (SMTP)',
    sieve: 'Filter (ManageSieve)',
    dav: 'Kalender und Kontakte',
    jmap: 'JMAP',
  },
  short: { imap: 'Lesen', smtp: 'Senden', sieve: 'Filter', dav: 'Kalender', jmap: 'JMAP' },
  created: 'Erstellt',
  lastUsed: 'Zuletzt benutzt',
  never: 'Nie',
  lastUse: (service, ip) => `${service}, von ${ip}`,
  revoke: 'Widerrufen',
  revokeTitle: (name) => `„${name}“ widerrufen?`,
  revokeHint: 'Das Programm, das es benutzt, kann sich nicht mehr anmelden.',
  revoked: (name) => `„${name}“ ist widerrufen`,
  secretTitle: 'Ihr neues App-Passwort',
  secretHint:
    'Geben Sie es im Programm anstelle Ihres Passworts ein. Der Benutzername ist Ihre Adresse.',
  none: 'Keine App-Passwörter',
  noneHint: 'Programme, die es unterstützen, melden sich ohne eines über Ihren Browser an.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
