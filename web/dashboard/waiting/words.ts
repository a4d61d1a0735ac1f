const en = {
  title: 'Waiting mail',
  hint: 'Mail that you have sent and that the other mail server has not accepted yet. It is tried again for days.',
  search: 'Search by sender or recipient',
  sender: 'Sender',
  recipients: 'Recipients',
  reason: 'Last answer',
  since: 'Since',
  remove: 'Delete',
  removeTitle: 'Delete this message?',
  removeHint: 'It is not delivered, and its sender gets no notice. This cannot be undone.',
  removed: 'The message was deleted',
  none: 'No mail is waiting',
  noneHint: 'Everything that you have sent was delivered or returned.',
}

const de: typeof en = {
  title: 'Wartende Mail',
  hint: 'Mail, die Sie gesendet haben und die der andere Mailserver noch nicht angenommen hat. Sie wird tagelang neu versucht.',
  search: 'Absender oder Empfänger suchen',
  sender: 'Absender',
  recipients: 'Empfänger',
  reason: 'Letzte Antwort',
  since: 'Seit',
  remove: 'Löschen',
  removeTitle: 'Diese Nachricht löschen?',
  removeHint:
    'Sie wird nicht zugestellt, und der Absender erhält keine Meldung. Das lässt sich nicht rückgängig machen.',
  removed: 'Die Nachricht wurde gelöscht',
  none: 'Keine Mail wartet',
  noneHint: 'Alles, was Sie gesendet haben, ist zugestellt oder zurückgekommen.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
