const en = {
  title: 'Connected programs',
  hint: 'Programs that you signed in to through your browser. They have no password of yours.',
  program: 'Program',
  may: 'May',
  since: 'Since',
  scope: {
    imap: 'Read',
    pop: 'Fetch',
    smtp: 'Send',
    sieve: 'Filters',
    dav: 'Calendars',
    jmap: 'JMAP',
    email: 'See your address',
  } as Record<string, string>,
  end: 'Disconnect',
  endTitle: (name: string) => `Disconnect “${name}”?`,
  endHint: 'The program must ask you to sign in again.',
  ended: (name: string) => `“${name}” is disconnected`,
  none: 'No connected programs',
  noneHint: 'A program appears here after you allow it to use your mailbox.',
}

const de: typeof en = {
  title: 'Verbundene Programme',
  hint: 'Programme, bei denen Sie sich über den Browser angemeldet haben. Sie haben kein Passwort von Ihnen.',
  program: 'Programm',
  may: 'Darf',
  since: 'Seit',
  scope: {
    imap: 'Lesen',
    pop: 'Abholen',
    smtp: 'Senden',
    sieve: 'Filter',
    dav: 'Kalender',
    jmap: 'JMAP',
    email: 'Ihre Adresse sehen',
  },
  end: 'Trennen',
  endTitle: (name) => `„${name}“ trennen?`,
  endHint: 'Das Programm muss Sie um eine neue Anmeldung bitten.',
  ended: (name) => `„${name}“ ist getrennt`,
  none: 'Keine verbundenen Programme',
  noneHint: 'Ein Programm steht hier, sobald Sie ihm Ihr Postfach erlauben.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
