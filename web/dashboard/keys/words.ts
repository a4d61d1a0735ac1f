const en = {
  hint: 'Keys and certificates of mailboxes, and public ones of correspondents. Their holders make and import their own on the pages of their mailbox.',
  none: 'Nothing stored',
  noneHint: 'Import the public key or certificate of a person to write to them encrypted.',
}

const de: typeof en = {
  hint: 'Schlüssel und Zertifikate von Postfächern, und öffentliche von Korrespondenten. Inhaber erzeugen und importieren eigene auf den Seiten ihres Postfachs.',
  none: 'Nichts gespeichert',
  noneHint:
    'Importieren Sie den öffentlichen Schlüssel oder das Zertifikat einer Person, um ihr verschlüsselt zu schreiben.',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
