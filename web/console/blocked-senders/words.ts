const en = {
  hint: 'Senders that were blocked with a quarantined message.',
  search: 'Search by sender',
  sender: 'Sender',
  organization: 'Organization',
  reason: 'Reason',
  by: 'Blocked by',
  lift: 'Unblock',
  liftTitle: (sender: string) => `Unblock ${sender}?`,
  liftHint: 'The organization takes mail of this sender again, and may send to it again.',
  lifted: (sender: string) => `${sender} is unblocked`,
  none: 'No blocked senders',
  noneHint: 'Block one with a message in quarantine.',
}

const de: typeof en = {
  hint: 'Absender, die mit einer Nachricht aus der Quarantäne gesperrt wurden.',
  search: 'Nach Absender suchen',
  sender: 'Absender',
  organization: 'Organisation',
  reason: 'Grund',
  by: 'Gesperrt von',
  lift: 'Freigeben',
  liftTitle: (sender) => `${sender} freigeben?`,
  liftHint: 'Die Organisation nimmt Mail dieses Absenders wieder an und darf ihm wieder schreiben.',
  lifted: (sender) => `${sender} ist freigegeben`,
  none: 'Keine gesperrten Absender',
  noneHint: 'Sperren Sie einen mit einer Nachricht in der Quarantäne.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
