"""Words of each invented study: what it is about, in what, and how it was looked at."""

import re

_RAW = """
chemokine
  things: CXCL12 binding | CXCR4 internalisation | β-arrestin recruitment | calcium flux |
    homing of progenitors | the CXCL12 gradient | receptor dimers | directional migration |
    heparan sulphate
  systems: bone marrow slices | Jurkat cells | zebrafish lateral lines | stromal co-cultures
  methods: bioluminescence resonance energy transfer | under-agarose migration | flow cytometry
checkpoint
  things: PD-1 clustering | PD-L1 shedding | SHP2 recruitment | exhaustion markers |
    interferon-γ release | T cell re-expansion | antigen load | TCF1 positive progenitors
  systems: melanoma organoids | CD8 T cells | tumour slices | spleens
  methods: single-molecule tracking | mass cytometry | adoptive transfer
kinase
  things: EGF binding | EGFR phosphorylation | ERK pulses | endosomal sorting | ligand depletion
    | GRB2 exchange | receptor recycling | negative feedback through SPRY2
  systems: MCF10A monolayers | mammary acini | keratinocyte sheets
  methods: live biosensor imaging | phosphoproteomics | optogenetic clustering
moss
  things: protonemal branching | spore germination | cuticle thickness | desiccation recovery |
    phyllid angle | water film depth | sporophyte abortion | shade response
  systems: moss cushions | urban walls | peat mesocosms | herbarium sheets
  methods: confocal reconstruction | chlorophyll fluorescence | isotope labelling
coral
  things: symbiont expulsion | skeletal density | night respiration | bleaching thresholds |
    mucus turnover | larval settlement | alkalinity anomaly | heat tolerance
  systems: staghorn fragments | reef flats | larval aquaria | coral nurseries
  methods: micro-computed tomography | pulse amplitude fluorometry | oxygen microsensors
sleep
  things: spindle density | slow wave slope | dream recall | memory consolidation | adenosine
    build-up | cortical down states | sleep pressure | ripple coupling
  systems: volunteers | freely moving rats | night shift nurses | thalamic slices
  methods: high-density electroencephalography | targeted reactivation | fibre photometry
yeast
  things: bud scar counts | vacuolar acidity | rDNA circles | replicative age | mitochondrial
    inheritance | daughter rejuvenation | iron regulon activity | caloric restriction
  systems: budding yeast lineages | microfluidic traps | petite mutants
  methods: time-lapse microscopy | ribosome profiling | pulse-chase labelling
bee
  things: waggle dance errors | pollen diversity | brood temperature | forager age |
    clothianidin residues | hive weight | nectar flow | colony survival
  systems: honey bee colonies | observation hives | apple orchards | field transects
  methods: radio-frequency tagging | palynology | thermal imaging
crystal
  things: nucleation lag | polymorph selection | lattice strain | solvent inclusion | growth
    step velocity | supersaturation | impurity pinning | nacre tablets
  systems: gel-grown crystals | levitated droplets | shell fragments
  methods: atomic force microscopy | X-ray topography | Raman mapping
malaria
  things: gametocyte conversion | erythrocyte invasion | merozoite release | haemozoin load |
    var gene switching | febrile periodicity | spleen clearance | artemisinin delay
  systems: cultured parasites | asymptomatic carriers | humanised mice
  methods: ring-stage survival assays | single-cell sequencing | membrane feeding
bone
  things: osteocyte density | trabecular spacing | sclerostin release | loading frequency |
    callus stiffness | lacunar shape | mineral maturation | fracture closure
  systems: mouse tibiae | iliac biopsies | perfused bone cores
  methods: synchrotron tomography | finite element analysis | nanoindentation
gut
  things: butyrate supply | mucin thickness | crypt fission | bile acid pools | tuft cell number
    | segmented filamentous bacteria | barrier leak | Paneth cell granules
  systems: gnotobiotic mice | colon organoids | ileostomy samples
  methods: 16S profiling | Ussing chambers | laser capture
vision
  things: contrast gain | saccadic suppression | cone opsin drift | amacrine inhibition |
    perceptual fading | receptive field size | direction selectivity | pupil lag
  systems: retinal explants | macaque observers | amblyopic adults
  methods: adaptive optics imaging | multielectrode arrays | psychophysical staircases
soil
  things: hyphal turnover | phosphatase activity | aggregate stability | nitrous oxide bursts |
    root exudation | earthworm casts | necromass carbon | drought legacy
  systems: beech plots | prairie cores | rhizotrons | fallow fields
  methods: stable isotope probing | gas chromatography | zymography
heart
  things: calcium sparks | titin stiffness | wall stress | atrial fibrosis | ejection fraction |
    sarcomere length | potassium leak | conduction velocity
  systems: engineered heart tissue | septal biopsies | Langendorff hearts
  methods: optical mapping | echocardiography | patch clamp recording
virus
  things: capsid uncoating | furin cleavage | interferon escape | plaque size | reassortment
    rate | viral load | neutralising titres | spike stability
  systems: ferrets | airway cultures | wastewater samples | convalescent sera
  methods: cryo-electron tomography | deep mutational scanning | digital PCR
language
  things: vowel duration | turn-taking gaps | tonal drift | lexical access | bilingual switching
    | babbling rhythm | prosodic phrasing | semantic surprise
  systems: toddlers | village recordings | bilingual speakers | interpreters
  methods: eye tracking | forced alignment | magnetoencephalography
"""


def _read(raw: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """A name on a line of its own, then three indented lists with ``|`` between the words."""
    topics: dict[str, dict[str, tuple[str, ...]]] = {}
    for block in re.split(r"\n(?=\w)", raw.strip()):
        name, _, rest = block.partition("\n")
        lists = re.findall(r"^  (\w+): (.*?)(?=^  \w|\Z)", rest, re.M | re.S)
        topics[name] = {
            kind: tuple(" ".join(word.split()) for word in words.split("|"))
            for kind, words in lists
        }
    return topics


TOPICS = _read(_RAW)
