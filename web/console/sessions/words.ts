const en = {
  title: 'Sessions',
  operator: 'Operator',
  address: 'Address',
  browser: 'Browser',
  started: 'Started',
  ends: 'Ends',
  current: 'This session',
  partial: 'Without second factor',
  end: 'End session',
  endTitle: (email: string) => `End the session of ${email}?`,
  endHint: 'The operator has to sign in again, with the second factor.',
  ended: (email: string) => `A session of ${email} was ended`,
  none: 'No sessions',
  noneHint: 'Operators who are signed in are listed here.',
}

const de: typeof en = {
  title: 'Sitzungen',
  operator: 'Betreiber',
  address: 'Adresse',
  browser: 'Browser',
  started: 'Begonnen',
  ends: 'Endet',
  current: 'Diese Sitzung',
  partial: 'Ohne zweiten Faktor',
  end: 'Sitzung beenden',
  endTitle: (email) => `Sitzung von ${email} beenden?`,
  endHint: 'Danach ist eine neue Anmeldung mit zweitem Faktor nötig.',
  ended: (email) => `Eine Sitzung von ${email} wurde beendet`,
  none: 'Keine Sitzungen',
  noneHint: 'Hier stehen die angemeldeten Betreiber.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
