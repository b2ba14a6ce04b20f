"""Find the roles of a section by its title, with a lexicon of standard section titles.

JATS's ``sec-type`` is read with the same table (recommended values: jats.nlm.nih.gov). The roles
are those of PMC's BioC and of Europe PMC's section search, and further ones that reviewers need.
The words are section titles in the ten languages that PubMed indexes most (English, German, French,
Russian, Japanese, Chinese, Spanish, Italian, Polish, Portuguese), and in Dutch, Korean and Turkish
for the parts every paper has.

A phrase is a whole title, or a whole part of a title ("Results and discussion" has two); a phrase
with … is the beginning of a title. Case, accents, whitespace and numbering are ignored.
"""

from __future__ import annotations

import html
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, get_args

from ..model.paper import Role

# Parts of a title that say nothing beside others: "Availability of data and materials".
_NO_PART: Final = ["materials", "consent", "cases", "contributions"]
# The abstract where it opens a paper, the conclusion where it ends one.
SUMMARIES: Final = frozenset(["summary", "summaryandconclusion", "summaryandconclusions"])
MAIN_TEXT: Final = frozenset(["main", "maintext", "text", "body", "articletext", "fulltext"])
"""Titles that a publisher (or our reader) sets over what has none."""
_PREFIX_CHARS = 3  # letters of a beginning by which most titles are seen to have none
_MAX_TITLE_CHARS = 200  # characters; a longer title is a paragraph
_MAX_LIST_WORDS = 12  # words; a longer title is a statement that has such a word in it
_MARKUP = re.compile(
    r"</?(?:sub|sup|i|b|em|strong|u|span|br)\b[^<>]{0,100}>|[*_`\\#]|\[\^?\d{1,3}\]"
)
_LINK = re.compile(r"\]\([^()\s]{0,300}\)")
_ASIDE = re.compile(r"\s*[(\[][^()\[\]]{0,80}[)\]]?\s*$")
_NUMBER = re.compile(
    r"(?:(?:section|chapter|part|kapitel)\s)?[\W\d_]*(?:第?[一二三四五六七八九十\d]{1,3}[章节節、.]\s*)?",
    re.I,
)
_LETTER = re.compile(r"\A(?:[ivxlc]{1,5}|[a-h])(?:[.):]|\s(?=\S{3}))[\W_]*", re.I)
_BETWEEN = re.compile(
    r"\s(?:and|und|et|y|e|i|en|ve|и|with|mit|및)\s|\s-\s|[/,;:.&+|\u2013\u2014、・]"
    r"|及び|および|ならびに|并|與|与|和|及|と",
    re.I,
)
_SIGNS = re.compile(r"[\W_]+")
_SUFFIXED = re.compile(r"(?:\S+\s){1,3}(?:methods|methodology|procedures)", re.I)
TITLE_PHRASES: Final[dict[Role, str]] = {
    "abstract": """abstract | structured abstract | graphical abstract | executive summary
        | synopsis | zusammenfassung | abstrakt | kurzfassung | résumé | resumen | resumo
        | riassunto | sommario | sunto | streszczenie | реферат | аннотация | резюме | 摘要
        | 概要 | 提要 | 要旨 | 抄録 | 要約 | 초록 | 요약 | samenvatting | özet | öz""",
    "highlights": """highlights | key points… | key messages… | keypoints | author summary
        | plain language summary… | lay summary | lay abstract | significance
        | significance statement | in brief | elife digest | research in context | take home…
        | what is already known… | what this study adds… | what is known… | clinical implications
        | summary points | new & noteworthy | impact statement | kernaussagen | points essentiels
        | points clés | messaggi chiave | puntos clave | pontos-chave | ключевые моменты""",
    "introduction": """introduction | background | general introduction | background & summary
        | intro | opening section | einleitung | einführung | hintergrund | contexte
        | introducción | antecedentes | introducción y objetivos | introduzione | premessa
        | introdução | wprowadzenie | wstęp | введение | актуальность | 引言 | 前言 | 绪论 | 緒論
        | 背景 | 导言 | 緒言 | 諸言 | はじめに | 序論 | まえがき | 서론 | 배경 | inleiding
        | achtergrond | giriş""",
    "methods": """methods | method | materials and methods | material and methods | materials
        | materials and method | material and method | methods and materials | methodology
        | methodologies | research methodology | research methods | experimental procedures
        | experimental procedure | experimental section | experimental | experimental part
        | experimental details | experimental methods | experimental methodology
        | experimental methods and procedures | patients and methods | subjects and methods
        | participants and methods | animals and methods | methods/design | design and methods
        | methods and design | research design and methods | online methods | star methods
        | star★methods | methods summary | method details | method section
        | methodological approach | materials methods | materials|methods
        | subjects and procedures | computational methods | theoretical methods
        | theory and methods | review methods | search strategy and selection criteria
        | methods and analysis | methoden | methode | methodik | material und methode
        | material und methoden | material und methodik | patienten und methoden
        | patienten und methodik | experimenteller teil | méthodes | méthode | méthodologie
        | matériel et méthodes | matériels et méthodes | matériel et méthode
        | matériaux et méthodes | patients et méthodes | malades et méthodes | sujets et méthodes
        | métodos | método | metodología | material y métodos | material y método
        | materiales y métodos | pacientes y métodos | pacientes y método | sujetos y métodos
        | metodi | metodo | metodologia | materiali e metodi | pazienti e metodi
        | material e métodos | materiais e métodos | materiais e método | casuística e métodos
        | pacientes e métodos | material e método | metody | metodyka | materiał i metody
        | materiały i metody | materiał i metodyka | materiał i metoda | методы | метод
        | методика | методология | материалы и методы | материал и методы | материал и методика
        | материалы и методики | пациенты и методы | методы исследования
        | материалы и методы исследования | материал и методы исследования | 方法 | 材料与方法
        | 材料和方法 | 材料及方法 | 资料与方法 | 資料與方法 | 对象与方法 | 對象與方法
        | 材料與方法 | 研究方法 | 实验方法 | 实验部分 | 一般资料与方法 | 病例与方法 | 材料と方法
        | 材料および方法 | 材料及び方法 | 対象と方法 | 対象および方法 | 対象及び方法 | 実験方法
        | 方法と対象 | 실험 방법 | 방법 | 연구 방법 | 재료 및 방법 | 대상 및 방법
        | methoden en technieken | materiaal en methoden | patiënten en methoden | yöntem
        | yöntemler | gereç ve yöntem | gereç ve yöntemler | materyal ve metod
        | materyal ve metot | materyal ve yöntem""",
    "results": """results | result | findings | main findings | main results | key results
        | results section | experimental results | ergebnisse | resultate | befunde | résultats
        | résultat | resultados | hallazgos | risultati | wyniki | wyniki badań | результаты
        | результаты исследования | результаты исследований | результаты и их обсуждение
        | полученные результаты | 结果 | 結果 | 実験結果 | 成績 | 研究结果 | 실험 결과 | 결과
        | 연구 결과 | resultaten | bulgular""",
    "discussion": """discussion | discussions | general discussion | overall discussion
        | discussion… | interpretation | comment | diskussion | interpretation der ergebnisse
        | discusión | discussione | discussão | dyskusja | omówienie | omówienie wyników
        | обсуждение | обсуждение результатов | дискуссия | результаты и их обсуждение | 讨论
        | 討論 | 分析与讨论 | 考察 | 고찰 | 논의 | 토론 | discussie | beschouwing | tartışma""",
    "conclusion": """conclusion | conclusions | concluding remarks… | concluding thoughts
        | conclusion remarks | final remarks | final considerations | final thoughts
        | closing remarks | conclusive remarks | general conclusions | general conclusion
        | main conclusions | study conclusions | schlussfolgerung | schlussfolgerungen | fazit
        | fazit für die praxis | schlussbemerkung | ausblick | conclusión | conclusiones
        | consideraciones finales | conclusioni | considerazioni finali | considerações finais
        | conclusão | conclusões | wnioski | podsumowanie | zakończenie | заключение | выводы
        | вывод | 结论 | 結論 | 结语 | 結語 | 小结 | 总结 | 結論と展望 | おわりに | まとめ | 결론
        | 맺음말 | conclusie | conclusies | sonuç | sonuçlar""",
    "case report": """case report | case reports | case presentation | case presentations
        | case description | case descriptions | case history | case histories | case series
        | case study | case studies | case summary | cases | presentation of case
        | presentation of the case | presentation of cases | report of case | report of a case
        | clinical case | clinical presentation | clinical report | clinical cases | case 1
        | case 2 | fallbericht | fallberichte | fallbeschreibung | falldarstellung | kasuistik
        | kasuistiken | cas clinique | cas cliniques | observation | présentation du cas
        | présentation de cas | description du cas | caso clínico | casos clínicos
        | presentación del caso | presentación de caso | presentación de caso clínico
        | reporte de caso | descripción del caso | informe de caso | caso clinico
        | descrizione del caso | presentazione del caso | relato de caso | relato do caso
        | descrição do caso | apresentação do caso | opis przypadku | opis przypadków
        | opisy przypadków | клинический случай | клинический пример | клиническое наблюдение
        | описание случая | описание клинического случая | клинические наблюдения | 病例报告
        | 病例介绍 | 病例资料 | 临床资料 | 病例報告 | 症例 | 症例報告 | 症例提示 | 증례
        | 증례 보고 | casus | ziektegeschiedenis | olgu | olgu sunumu""",
    "limitations": """limitations | limitation | study limitations | study limitation
        | limitations… | limitation of… | strengths and limitations… | potential limitations
        | strengths and weaknesses | strengths, limitations… | limitationen | einschränkungen
        | limitationen der studie | limites | limites de l'étude | limitaciones
        | limitaciones del estudio | limitazioni | limiti dello studio | limiti | limitações
        | limitações do estudo | ograniczenia | ograniczenia badania | ограничения
        | ограничения исследования | 局限性 | 研究的局限性 | 研究局限性 | 研究の限界
        | 本研究の限界 | 限界 | 제한점 | 연구의 제한점""",
    "figures": """figures and tables | figures | tables | tables and figures | figure legends
        | figures, schemes and tables | figure captions | table legends | list of figures
        | list of tables | legends to figures | legends | display items | display-objects
        | abbildungen | tabellen | figures et tableaux | tableaux | figuras | tablas
        | figuras y tablas | figure | tabelle | figuras e tabelas | tabelas | ryciny | tabele
        | рисунки | таблицы | 图表 | 図表""",
    "funding": """funding | funding… | funded by | financial support… | financial assistance
        | grant support… | grants | grant information | support statement | source of support
        | source of funding | sources of funding… | source of funding… | research funding
        | role of funding… | role of the funding… | role of the funder… | sources of support
        | sponsorship | study funding | financial support and sponsorship | förderung
        | finanzierung | finanzielle unterstützung | financement | financements
        | sources de financement | financiación | financiamiento | fuentes de financiación
        | fuente de financiación | fuentes de financiamiento | finanziamenti | finanziamento
        | fonti di finanziamento | financiamento | fontes de financiamento | finansowanie
        | źródła finansowania | źródło finansowania | финансирование | источник финансирования
        | источники финансирования | 基金项目 | 基金 | 资助 | 経費 | 研究助成 | 助成 | 資金提供
        | 研究資金 | 연구비 | 연구비 지원 | financiering | finansman | finansal destek""",
    "data availability": """data availability… | data sharing… | data accessib… | data access…
        | data deposition… | data archiving… | availability of data…
        | availability of supporting… | availability of code…
        | availability of source code… | availability of materials…
        | availability and requirements… | availability of data | data and code availability…
        | data and materials availability… | data and software availability…
        | data, materials, and software availability… | data, code, and materials availability…
        | code availability… | software availability… | materials availability…
        | resource availability… | data and resource… | data statement | data, code…
        | accession numbers… | nucleotide sequence accession… | accession codes…
        | accession number | dna deposition | deposited data | data and material availability…
        | availability of data & materials | datenverfügbarkeit | verfügbarkeit der daten
        | disponibilité des données | accessibilité des données | disponibilidad de datos
        | disponibilidad de los datos | disponibilità dei dati | disponibilidade de dados
        | disponibilidade dos dados | dostępność danych | доступность данных | 数据可用性
        | 数据可用性声明 | 数据共享声明 | データ利用可能性 | データの利用可能性 | 데이터 가용성""",
    "conflicts": """conflict of interest… | conflicts of interest… | conflict of interests…
        | conflicts of interests… | competing interest… | competing financial interest…
        | conflict | competing of interest… | declaration of interest…
        | declarations of interest… | declaration of competing… | declaration of conflicting…
        | declaration of conflict… | disclosure | disclosures | disclosure statement
        | author disclosure… | authors' disclosure… | author disclosures | financial disclosure…
        | coi statement | potential conflict… | potential competing… | duality of interest…
        | disclosure of conflict… | disclosure of potential… | disclosure of interest…
        | statement of conflict… | interessenkonflikt… | conflits d'intérêts…
        | conflit d'intérêts… | conflits d'intérêt… | conflit d'intérêt… | liens d'intérêts
        | liens d'intérêt | déclaration d'intérêts | déclaration de liens d'intérêts
        | déclaration de conflits… | conflicto de intereses… | conflictos de intereses…
        | conflicto de interés… | conflictos de interés… | conflitto di interessi
        | conflitti di interesse | conflitti di interessi | conflitto d'interessi
        | conflito de interesses… | conflitos de interesse… | conflito de interesse…
        | conflitos de interesses… | konflikt interesów | konflikty interesów
        | конфликт интересов | конфликты интересов | 利益冲突… | 利益衝突 | 利益相反… | 이해관계
        | 이해 상충 | 이해상충 | belangenconflict… | belangenverstrengeling | çıkar çatışması…
        | çıkar çatışmaları""",
    "ethics": """ethics | ethics… | ethical… | animal ethics | human ethics | informed consent…
        | consent for publication | consent to publish… | consent to participate…
        | patient consent… | institutional review board… | irb approval | irb statement
        | research ethics… | animal welfare | statement of ethics | statement of human…
        | human and animal rights… | human rights | compliance with ethical…
        | protection of human… | consent | declaration of patient consent | ethik…
        | ethische richtlinien | einhaltung ethischer… | éthique | considérations éthiques
        | aspects éthiques | consentement éclairé | consideraciones éticas | aspectos éticos
        | responsabilidades éticas | ética | consentimiento informado | considerazioni etiche
        | aspetti etici | etica | consenso informato | considerações éticas | questões éticas
        | komisja bioetyczna | zgoda komisji… | этика | этические аспекты | этическая экспертиза
        | соответствие принципам этики | информированное согласие | 伦理 | 伦理声明 | 伦理审批
        | 知情同意 | 倫理的配慮 | 倫理 | 윤리 | 윤리적 고려 | etik kurul onayı | etik""",
    "author contributions": """author contribution… | authors contribution…
        | author's contribution… | authors' contribution… | contributions by the authors
        | contributions of authors | contribution of authors | contributions of the authors
        | contributors | contributorship… | contributions | author roles | authorship
        | credit authorship… | credit author… | authorship contribution… | authors' roles
        | autorenbeiträge | autorenbeitrag | beiträge der autoren | contributions des auteurs
        | contribution des auteurs | contribución de los autores | contribuciones de los autores
        | contribución de autores | contribuciones de autoría | autoría | contributi degli autori
        | contributo degli autori | contribuição dos autores | contribuições dos autores
        | contribuições de autoria | wkład autorów | вклад авторов | участие авторов | 作者贡献…
        | 作者貢獻 | 著者の貢献 | 著者貢献 | 저자 기여 | yazar katkıları""",
    "acknowledgements": """acknowledgement… | acknowledgment… | thanks | danksagung… | dank
        | remerciements | remerciement | agradecimientos | agradecimiento | ringraziamenti
        | agradecimentos | agradecimento | podziękowania | podziękowanie | благодарности
        | благодарность | выражение благодарности | 致谢 | 致謝 | 谢辞 | 志谢 | 謝辞 | 감사의 글
        | 감사 | dankwoord | dankbetuiging | teşekkür""",
    "abbreviations": """abbreviations… | list of abbreviations… | abbreviation | nomenclature
        | glossary | acronyms | abkürzungen | abkürzungsverzeichnis | abréviations | glossaire
        | abreviaturas | siglas | abbreviazioni | abreviações | lista de abreviaturas… | skróty
        | wykaz skrótów | сокращения | список сокращений | 缩略语 | 略語 | 약어 | afkortingen
        | kısaltmalar""",
    "supplementary": """supplementary… | supplemental… | supplement | supporting information…
        | supporting material… | supporting data… | supporting online… | additional file…
        | additional files… | additional data | additional material… | additional data files
        | additional supporting… | electronic supplement… | electronic supplementary…
        | online supplement… | online only… | online supplementary… | online data supplement
        | extended data… | source data… | appendix a supplement… | about this supplement
        | multimedia appendix… | associated data | web extra… | zusatzmaterial…
        | ergänzendes material | elektronisches zusatzmaterial | matériel supplémentaire
        | matériel complémentaire | données supplémentaires | compléments en ligne
        | informations supplémentaires | material suplementario | material complementario
        | anexo… material | materiale supplementare | materiali supplementari
        | dados suplementares | material suplementar | materiały dodatkowe
        | materiały uzupełniające | дополнительные материалы | приложение a дополнительные
        | 补充材料 | 附加材料 | 補足資料 | 補足情報 | 보충 자료""",
    "appendix": """appendix… | appendices | anhang… | annexe | annexes | anexo | anexos
        | apéndice | apéndices | appendice | appendici | allegato | apêndice | apêndices
        | załącznik | aneks | dodatek | приложение | приложения | 附录 | 附錄 | 付録 | 부록
        | bijlage | ek | ekler""",
    "peer review": """peer review… | decision letter… | author response… | reviewer report…
        | reviewers' comments… | reviewer comments… | reviewer's comment… | reviewer #…
        | editor's evaluation… | editorial assessment… | open peer review…
        | response to reviewer… | responses to reviewer… | synthesis author response
        | referee report… | elife assessment | public review… | author's reply…
        | aggregated review report""",
    "references": """references | reference | reference list | references and notes
        | notes and references | selected references | cited references | references cited
        | key references | bibliography | literature | literature cited | works cited
        | cited literature | list of references | endnotes | literatur | literaturverzeichnis
        | literaturangaben | quellen | références | références bibliographiques | bibliographie
        | referencias | referencias bibliográficas | bibliografía | riferimenti
        | riferimenti bibliografici | bibliografia | referências | referências bibliográficas
        | piśmiennictwo | literatura | литература | список литературы | библиография
        | список использованной литературы | библиографический список | 参考文献 | 參考文獻
        | 引用文献 | 文献 | 文獻 | 참고문헌 | 참고 문헌 | literatuur | literatuurlijst
        | kaynaklar | kaynakça""",
}
"""Titles that name a role, by role."""
HINT_PHRASES: Final[dict[Role, str]] = {
    "methods": """study design | study design… | trial design… | experimental design…
        | study setting… | design | setting | design and setting | participants | patients
        | subjects | study population… | study participants… | study subjects | sample | samples
        | sample size… | sample collection… | sample preparation… | sampling | sampling…
        | statistical analysis… | statistical analyses… | statistics | statistical methods…
        | data collection… | data analysis… | data analyses | data extraction… | data sources…
        | data source | data acquisition… | data processing… | procedure | procedures | measures
        | measurements | measurement | outcome measures… | outcomes | instruments | interventions
        | intervention | inclusion criteria… | eligibility criteria…
        | inclusion and exclusion criteria… | selection criteria… | search strategy…
        | literature search… | literature search strategy… | study selection…
        | quality assessment… | risk of bias… | randomization… | randomisation…
        | randomization and… | cell culture… | cell lines… | cells | animals | animals and…
        | experimental animals… | animal model… | animal experiments… | mice | reagents
        | reagents and… | chemicals | chemicals and… | antibodies | plasmids | plant material…
        | plant materials… | bacterial strains… | strains… | study area… | study site…
        | western blot… | rna extraction… | rna isolation… | dna extraction…
        | immunohistochemistry | immunofluorescence… | flow cytometry… | image analysis…
        | experimental setup… | experimental protocol… | implementation | methodological…
        | protocol | empirical strategy | stimuli | apparatus | probanden | patienten | statistik
        | statistische analyse… | statistische auswertung | studiendesign | population
        | population étudiée | analyse statistique | pacientes | participantes
        | análisis estadístico | diseño del estudio | diseño | población | analisi statistica
        | pazienti | disegno dello studio | análise estatística | delineamento… | materiał
        | analiza statystyczna | grupa badana | пациенты | статистический анализ…
        | статистическая обработка… | дизайн исследования | 统计学方法 | 统计学处理 | 统计学分析
        | 统计分析 | 一般资料 | 研究对象 | 临床资料 | 統計解析 | 対象 | 統計学的解析
        | 研究デザイン""",
    "introduction": """aim | aims | objective | objectives | rationale | purpose | overview
        | aims and objectives | aim of the study | aims of the study | study aims | hypothesis
        | study rationale | motivation | ziel | zielsetzung | fragestellung | objectif
        | objectifs | objetivo | objetivos | obiettivo | obiettivi | cel | cel pracy
        | cel badania | цель | цель исследования | 目的 | 研究目的""",
    "discussion": """comments | perspective | kommentar""",
    "conclusion": """summary and outlook | outlook | summary and perspectives | final comments
        | epilogue | perspektiven | perspectivas""",
}
"""Titles that mostly stand for a part of a role: they count where nothing names that role."""


def strip_title_numbering(title: str) -> str:
    """Return a title without markup, numbering and a trailing part in brackets.

    >>> strip_title_numbering("## 2.1. **Study** design"), strip_title_numbering("References (35)")
    ('Study design', 'References')
    """
    text = _LINK.sub("", html.unescape(_MARKUP.sub("", title[: 4 * _MAX_TITLE_CHARS])))
    text = " ".join(unicodedata.normalize("NFKC", text).split())[:_MAX_TITLE_CHARS]
    return _ASIDE.sub("", text[_NUMBER.match(text).end() :]) or text  # type: ignore[union-attr]


def to_title_key(text: str) -> str:
    """Return the letters and digits of a title, ignoring case, accents and whitespace.

    >>> to_title_key("M E T H O D S"), to_title_key("Matériel et méthodes")
    ('methods', 'materieletmethodes')
    """
    folded = unicodedata.normalize("NFKD", text).casefold()
    return _SIGNS.sub("", folded)


@lru_cache(maxsize=4096)
def find_roles(title: str) -> tuple[Role, ...]:
    """Return the roles that a title names; empty for a title specific to the paper.

    >>> find_roles("3. Results and Discussion")
    ('results', 'discussion')
    >>> find_roles("Материалы и методы"), find_roles("Binding")
    (('methods',), ())
    """
    return _find_roles_in_table(title, _TITLE_LOOKUP, any)


@lru_cache(maxsize=4096)
def find_hinted_roles(title: str) -> tuple[Role, ...]:
    """Return the roles that a title suggests: "Study design" is usually part of the methods."""
    found = _find_roles_in_table(title, _HINT_LOOKUP, all)
    return found or (("methods",) if _SUFFIXED.fullmatch(strip_title_numbering(title)) else ())


def parse_sec_type_roles(sec_type: str) -> tuple[Role, ...]:
    """Return the roles of a JATS ``sec-type``: ``intro``, ``materials|methods``, ``COI-statement``.

    >>> parse_sec_type_roles("materials|methods"), parse_sec_type_roles("subsection")
    (('methods',), ())
    """
    words = sec_type.replace("-", " ")
    return find_roles(words) or find_hinted_roles(words)


def parse_role(text: str) -> Role | None:
    """Return the role with this name; case and separators are ignored; None if unknown.

    >>> parse_role("Data-availability"), parse_role("method"), parse_role("Binding")
    ('data availability', 'methods', None)
    """
    return _NAMES.get(to_title_key(text.replace("_", " ")))


class _RolePhrases:
    """The roles of whole titles and of the beginnings of titles."""

    def __init__(self, phrases_by_role: dict[Role, str]) -> None:
        self.whole: dict[str, tuple[Role, ...]] = {}
        self.beginnings: dict[str, Role] = {}
        for role, phrases in phrases_by_role.items():
            for phrase in phrases.split(" | "):
                name = to_title_key(phrase)
                if "…" in phrase:
                    self.beginnings[name] = role
                self.whole[name] = tuple(dict.fromkeys((*self.whole.get(name, ()), role)))
        self._lengths = sorted({len(name) for name in self.beginnings}, reverse=True)
        self._first = {name[:_PREFIX_CHARS] for name in self.beginnings}

    def find_roles_of_key(self, name: str) -> tuple[Role, ...]:
        """Return the roles of a title key: of the whole key, or else of its beginning."""
        if (found := self.whole.get(name)) is not None:
            return found
        if name[:_PREFIX_CHARS] not in self._first:
            return ()
        starts = (self.beginnings.get(name[:length]) for length in self._lengths)
        return tuple(itertools.islice(filter(None, starts), 1))


def _find_roles_in_table(
    title: str, phrases: _RolePhrases, enough: Callable[[Iterable[object]], bool]
) -> tuple[Role, ...]:
    """Return the roles of the whole title, or else of its beginning and *enough* of its parts."""
    text = strip_title_numbering(title)
    for words in dict.fromkeys((text, _LETTER.sub("", text, count=1))):
        name = to_title_key(words)
        if whole := phrases.whole.get(name):
            return whole
        found = list(phrases.find_roles_of_key(name))
        if words.count(" ") < _MAX_LIST_WORDS:
            parts = [
                part for part in map(to_title_key, _BETWEEN.split(words)) if part not in _NO_PART
            ]
            several = [phrases.find_roles_of_key(part) for part in parts]
            found += itertools.chain(*several) if enough(several) else ()
        if found:
            return tuple(dict.fromkeys(found))
    return ()


_TITLE_LOOKUP: Final = _RolePhrases(TITLE_PHRASES)
_HINT_LOOKUP: Final = _RolePhrases(HINT_PHRASES)
HINTS: Final = frozenset(HINT_PHRASES)
_NAMES: Final[dict[str, Role]] = {
    name: role
    for role in get_args(Role)
    for name in (to_title_key(role), to_title_key(f"{role}s"), to_title_key(role.removesuffix("s")))
}
