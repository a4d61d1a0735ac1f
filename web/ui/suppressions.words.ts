const en = {
  search: 'Search by address',
  email: 'Address',
  type: 'Why',
  anyType: 'Any reason',
  types: {
    BOUNCE: 'Bounced',
    COMPLAINT: 'Complained',
    UNSUBSCRIBE: 'Unsubscribed',
    MANUAL: 'Added by hand',
  } as Record<string, string>,
  note: 'Note',
  since: 'Since',
  lift: 'Lift',
  liftTitle: (email: string) => `Send to ${email} again?`,
  liftHint: 'If the address bounces or complains again, it is suppressed again.',
  lifted: (email: string) => `${email} can be sent to again`,
  none: 'No address is suppressed',
  noneHint: 'Addresses that bounce, complain or unsubscribe appear here by themselves.',
}

const de: typeof en = {
  search: 'Adresse suchen',
  email: 'Adresse',
  type: 'Warum',
  anyType: 'Jeder Grund',
  types: {
    BOUNCE: 'Zurückgewiesen',
    COMPLAINT: 'Beschwerde',
    UNSUBSCRIBE: 'Abgemeldet',
    MANUAL: 'Von Hand eingetragen',
  },
  note: 'Notiz',
  since: 'Seit',
  lift: 'Aufheben',
  liftTitle: (email) => `Wieder an ${email} senden?`,
  liftHint: 'Weist die Adresse wieder Mail zurück, wird sie wieder gesperrt.',
  lifted: (email) => `An ${email} kann wieder gesendet werden`,
  none: 'Keine Adresse ist gesperrt',
  noneHint:
    'Adressen, die Mail zurückweisen, sich beschweren oder abmelden, erscheinen hier von selbst.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
