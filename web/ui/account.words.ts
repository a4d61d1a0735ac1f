const en = {
  sessions: 'Where you are signed in',
  device: 'Browser',
  address: 'IP address',
  started: 'Signed in',
  thisOne: 'This browser',
  end: 'Sign out',
  ended: 'The session has ended',
  current: 'Current password',
  next: 'New password',
  rule: '12 characters or more, with letters and numbers',
  change: 'Change password',
  changed: 'The password is changed; other sessions have ended',
}

const de: typeof en = {
  sessions: 'Wo Sie angemeldet sind',
  device: 'Browser',
  address: 'IP-Adresse',
  started: 'Angemeldet',
  thisOne: 'Dieser Browser',
  end: 'Abmelden',
  ended: 'Die Sitzung ist beendet',
  current: 'Bisheriges Passwort',
  next: 'Neues Passwort',
  rule: 'Mindestens 12 Zeichen, mit Buchstaben und Ziffern',
  change: 'Passwort ändern',
  changed: 'Das Passwort ist geändert; andere Sitzungen sind beendet',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
