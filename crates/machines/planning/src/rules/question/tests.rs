//! Questions about several tables. Each is answered by the right figures or declined; none gets the answer of another
//! question.

use super::*;

/// A table: the path of its file, and its columns as the recipe `columns` lists them.
const ORDERS: (&str, &str) = (
    "data/orders.csv",
    "order_id: identifier, unique\norder_date: date\nregion: group [\"East\", \"North\", \"South\"]\n\
     product: group [\"cocoa\", \"tea\"]\nunit_price: number, level\nquantity: number, amount\n\
     revenue: number, amount\nsatisfaction: number, level\nnote: text\n",
);
const TITANIC: (&str, &str) = (
    "titanic.csv",
    "PassengerId: identifier, unique\nSurvived: number\nPclass: number\nName: text\nSex: group [\"female\", \"male\"]\n\
     Age: number, level\nFare: number\nEmbarked: group [\"C\", \"Q\", \"S\"]\n",
);
const CO2: (&str, &str) = ("co2.csv", "date: date\nco2: number, level\n");
const CASES: (&str, &str) = (
    "disease.csv",
    "Country: group [\"Chad\", \"Peru\"]\nYear: calendar\nNo. of cases: number, amount\nfatality_rate: number, level\n",
);
const WEATHER: (&str, &str) = (
    "weather.csv",
    "day: date\nstation: group [\"Oslo\", \"Rome\"]\nmax_temp: number, level\nrainfall: number, amount\nwind: number\n",
);
const CHINESE: (&str, &str) = (
    "订单.csv",
    "订单编号: identifier, unique\n日期: date\n地区: group [\"北京\", \"上海\"]\n单价: number, level\n销量: number, amount\n销售额（元）: number, amount\n",
);

/// The questions that the rules answer: table, problem, and how it is read.
const ANSWERED: [((&str, &str), &str, &str); 65] = [
    (ORDERS, "Compare North and South: who sells a higher quantity?", "groups quantity region North South"),
    (ORDERS, "Which product brings the most revenue?", "groups revenue product total"),
    (ORDERS, "Which region has the highest revenue?", "groups revenue region"),
    (ORDERS, "In which region is the mean satisfaction lowest?", "groups satisfaction region mean"),
    (ORDERS, "How does the region affect the quantity?", "groups quantity region"),
    (ORDERS, "Does the revenue depend on the region?", "groups revenue region"),
    (ORDERS, "How many orders per region?", "groups - region count"),
    (ORDERS, "How many rows are there for each product?", "groups - product count"),
    (ORDERS, "How many orders in the North?", "groups - region North count"),
    (ORDERS, "Which product is most common?", "groups - product count"),
    (ORDERS, "How often does each product occur?", "groups - product count"),
    (ORDERS, "Which region has the most orders?", "groups - region count"),
    (ORDERS, "What is the mean revenue in the North?", "groups revenue region North mean"),
    (ORDERS, "What is the revenue in the North?", "groups revenue region North"),
    (ORDERS, "average unit price by product", "groups unit_price product mean"),
    (ORDERS, "What is the total revenue of each region?", "groups revenue region total"),
    (ORDERS, "How many quantity per region?", "groups quantity region total"),
    (ORDERS, "Is the satisfaction higher for tea than for cocoa?", "groups satisfaction product tea cocoa"),
    (ORDERS, "What is the difference in revenue between North and South?", "groups revenue region North South"),
    (ORDERS, "How does revenue develop by month?", "time revenue order_date month"),
    (ORDERS, "Is there a trend in the quantities?", "time quantity order_date"),
    (ORDERS, "monthly revenue", "time revenue order_date month"),
    (ORDERS, "total quantity per week", "time quantity order_date week total"),
    (ORDERS, "In which month was the revenue highest?", "time revenue order_date month"),
    (ORDERS, "What is the mean satisfaction per month?", "time satisfaction order_date month mean"),
    (ORDERS, "How many orders per month?", "time - order_date month count"),
    (ORDERS, "Did satisfaction change over time?", "time satisfaction order_date"),
    (ORDERS, "What will revenue be next month?", "forecast revenue order_date month"),
    (ORDERS, "Forecast the quantity of the next week", "forecast quantity order_date week"),
    (ORDERS, "Predict the quantity from the unit price", "models quantity unit_price"),
    (ORDERS, "Which simple model predicts the revenue best?", "models revenue"),
    (ORDERS, "Is there a correlation between unit price and quantity?", "relation quantity unit_price"),
    (ORDERS, "How does the unit price influence the quantity?", "relation quantity unit_price"),
    (ORDERS, "How does revenue change when the unit price increases?", "relation revenue unit_price"),
    (ORDERS, "Does satisfaction depend on the unit price?", "relation satisfaction unit_price"),
    (ORDERS, "What is the Pearson correlation coefficient of revenue and quantity?", "relation quantity revenue"),
    (ORDERS, "What decides the quantity that a region orders?", "drivers quantity"),
    (ORDERS, "What does the revenue depend on?", "drivers revenue"),
    (ORDERS, "Which factors affect satisfaction most?", "drivers satisfaction"),
    (ORDERS, "What is the median revenue?", "summary revenue median"),
    (ORDERS, "What is the average revenue of an order?", "summary revenue mean"),
    (ORDERS, "What is the highest unit price?", "summary unit_price maximum"),
    (ORDERS, "Calculate the standard deviation of the quantity.", "summary quantity deviation"),
    (ORDERS, "What is the total revenue?", "summary revenue total"),
    (TITANIC, "What is the mean Fare of the passengers?", "summary Fare mean"),
    (TITANIC, "Compare the Fare by Sex", "groups Fare Sex"),
    (TITANIC, "How many passengers per Embarked?", "groups - Embarked count"),
    (TITANIC, "What is the average age of male passengers?", "groups Age Sex male mean"),
    (TITANIC, "Is there a relationship between Age and Fare?", "relation Fare Age"),
    (CO2, "What will the co2 be next month?", "forecast co2 date month"),
    (CO2, "How did co2 develop over time?", "time co2 date"),
    (CASES, "Is there a correlation between Year and fatality rate?", "relation fatality_rate Year"),
    (CASES, "What is the mean fatality rate by Country?", "groups fatality_rate Country mean"),
    (WEATHER, "What is the total rainfall in Rome?", "groups rainfall station Rome total"),
    (WEATHER, "Which day had the highest max_temp?", "time max_temp day day"),
    (CHINESE, "各地区的平均单价是多少？", "groups 单价 地区 mean"),
    (CHINESE, "哪个地区的销售额最高？", "groups 销售额（元） 地区"),
    (CHINESE, "比较北京和上海的销量", "groups 销量 地区 北京 上海"),
    (CHINESE, "单价和销量之间有相关性吗？", "relation 销量 单价"),
    (CHINESE, "什么影响销量？", "drivers 销量"),
    (CHINESE, "每月的销售额趋势如何？", "time 销售额（元） 日期 month"),
    (CHINESE, "销量的中位数是多少？", "summary 销量 median"),
    (ORDERS, "Which region has the highest median revenue?", "groups revenue region median"),
    (ORDERS, "What is the highest revenue in the North?", "summary revenue region North maximum"),
    (ORDERS, "Which month had the least orders?", "time - order_date month count"),
];

/// The questions that the rules must decline: table, problem, and a part of the reason.
const DECLINED: [((&str, &str), &str, &str); 87] = [
    (ORDERS, "Tell me something nice", "word `something`"),
    (ORDERS, "Is the revenue normal?", "word `normal`"),
    (ORDERS, "Is revenue normally distributed?", "word `normally`"),
    (ORDERS, "What is the skewness of revenue?", "word `skewness`"),
    (ORDERS, "Are there outliers in the mean revenue?", "word `outliers`"),
    (ORDERS, "What share of the total revenue comes from the North?", "word `share`"),
    (ORDERS, "What percentage of orders is tea?", "word `percentage`"),
    (ORDERS, "How many orders have a quantity above 2?", "word `above`"),
    (ORDERS, "What is the mean revenue in 2024?", "word `2024`"),
    (ORDERS, "What was the mean revenue last month?", "word `last`"),
    (ORDERS, "What is the mean revenue in March?", "word `March`"),
    (ORDERS, "On which weekday is revenue highest?", "word `weekday`"),
    (ORDERS, "What is the mean revenue outside the North?", "word `outside`"),
    (ORDERS, "What is the mean revenue if the North is not counted?", "word `if`"),
    (ORDERS, "What is the mean revenue without tea?", "word `without`"),
    (ORDERS, "mean revenue not in the North", "word `not`"),
    (ORDERS, "mean revenue except North", "word `except`"),
    (ORDERS, "mean revenue of only the North", "word `only`"),
    (ORDERS, "What is the maximum revenue by region?", "`by`"),
    (ORDERS, "What is the highest revenue in each region?", "`each`"),
    (ORDERS, "In which month did revenue increase most?", "`increase`"),
    (ORDERS, "What is the variance of revenue?", "word `variance`"),
    (ORDERS, "What is the total unit price?", "level"),
    (ORDERS, "What is the sum of satisfaction by region?", "level"),
    (ORDERS, "total unit price per month", "level"),
    (ORDERS, "How much satisfaction in the North?", "satisfaction is a level, and the total of a level means nothing"),
    (ORDERS, "How does revenue develop in the North?", "`North`"),
    (ORDERS, "How does revenue develop by month and region?", "`and`"),
    (ORDERS, "What affects revenue in the North?", "`North`"),
    (ORDERS, "mean revenue by region and product", "`and`"),
    (ORDERS, "mean revenue of tea in the North", "`North`"),
    (ORDERS, "mean revenue and quantity", "`and`"),
    (ORDERS, "mean revenue and quantity by region", "`and`"),
    (ORDERS, "Is there a correlation between revenue, quantity and satisfaction?", "`,`"),
    (ORDERS, "Is there a correlation between revenue and region?", "region"),
    (ORDERS, "Which order has the highest revenue?", "`order`"),
    (ORDERS, "What is the difference between revenue and quantity?", "`between`"),
    (ORDERS, "Is the revenue nice?", "word `nice`"),
    (ORDERS, "What affects the note?", "`note`"),
    (ORDERS, "Compare North with South", "`with`"),
    (ORDERS, "How many regions are there?", "`region`"),
    (ORDERS, "How many different products are there?", "`different`"),
    (ORDERS, "How many customers per region?", "word `customers`"),
    (ORDERS, "What does the revenue explain?", "`explain`"),
    (ORDERS, "What will the mean revenue be?", "`mean`"),
    (ORDERS, "What would revenue be if the price doubled?", "`if`"),
    (ORDERS, "What will revenue be in the next 3 months?", "word `3`"),
    (ORDERS, "What will revenue be next month in the North?", "`North`"),
    (ORDERS, "Which regions have a higher revenue than the average?", "`higher`"),
    (ORDERS, "What is the mean revenue and which region has the highest?", "`and`"),
    (ORDERS, "What is the mean revenue across all regions?", "region"),
    (ORDERS, "Is the difference in revenue between North and South significant?", "word `significant`"),
    (ORDERS, "What is the Spearman correlation of revenue and quantity?", "word `Spearman`"),
    (ORDERS, "How did revenue and quantity change?", "`and`"),
    (ORDERS, "Why is the mean revenue low?", "word `Why`"),
    (ORDERS, "mean revenue per customer", "word `customer`"),
    (ORDERS, "Rank the regions by mean revenue", "word `Rank`"),
    (ORDERS, "Plot the mean revenue", "word `Plot`"),
    (ORDERS, "top region by mean revenue", "word `top`"),
    (ORDERS, "How many missing values does revenue have?", "word `missing`"),
    (ORDERS, "mean order_id", "`order_id`"),
    (ORDERS, "When was the revenue highest?", "`When`"),
    (ORDERS, "What is the average daily revenue?", "`daily`"),
    (ORDERS, "average revenue per month", "totals of the periods"),
    (ORDERS, "Predict the revenue of the next order", "`order`"),
    (ORDERS, "Which region has the highest revenue per order?", "`per`"),
    (ORDERS, "What is the revenue of the most common product?", "`most`"),
    (ORDERS, "What affects the mean revenue?", "`mean`"),
    (TITANIC, "Is there a correlation between passenger class and fare?", "word `class`"),
    (TITANIC, "What is the mean PassengerId?", "`PassengerId`"),
    (TITANIC, "Which passenger has the highest Fare?", "`passenger`"),
    (TITANIC, "What is the survival rate of women?", "word `survival`"),
    (TITANIC, "What is the mean Fare by Pclass?", "`Pclass`"),
    (TITANIC, "mean age of passengers who survived", "`who`"),
    (CO2, "What is the total co2?", "level"),
    (CO2, "What will the total co2 be next month?", "level"),
    (CO2, "Is there a seasonal pattern in co2?", "word `seasonal`"),
    (CASES, "What is the average number of cases?", "`number`"),
    (CASES, "What is the mean Year?", "Year"),
    (
        CASES,
        "How does the fatality rate develop by year?",
        "the problem asks about time, but the table has no column that is read as dates",
    ),
    (WEATHER, "What is the mean temp?", "`temp`"),
    (WEATHER, "Compare the rain in Oslo and Rome", "word `rain`"),
    (CHINESE, "销量是否正态分布？", "word `正态分布`"),
    (CHINESE, "销量有异常值吗？", "`常`"),
    (CHINESE, "除北京外的平均销量是多少？", "word `除`"),
    (CHINESE, "单价的总和是多少？", "level"),
    (CHINESE, "哪个订单的销售额最高？", "`订`"),
];

fn read(table: (&str, &str), problem: &str) -> Question {
    Question::read(problem, &Columns::read(table.1).unwrap(), table.0)
}

/// Says in short how a problem is read.
fn shown(question: &Question) -> String {
    let target = question.target.clone().unwrap_or_else(|| "-".to_owned());
    let place = [&question.group, &question.date].into_iter().flatten().cloned();
    let words = [question.kind.to_owned(), target].into_iter().chain(question.others.clone()).chain(place);
    let words = words.chain(question.values.clone()).chain(question.period.map(str::to_owned));
    words.chain(question.figures.iter().map(|one| (*one).to_owned())).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_problem_is_answered_by_the_figures_that_it_asks_for() {
    let wrong = ANSWERED.iter().filter_map(|(table, problem, expected)| {
        let question = read(*table, problem);
        let found = shown(&question);
        (found != *expected)
            .then(|| format!("{problem}\n  expected {expected}\n  found    {found} {}", question.reason))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_problem_with_a_word_that_no_rule_uses_is_declined() {
    let wrong = DECLINED.iter().filter_map(|(table, problem, expected)| {
        let question = read(*table, problem);
        let is_right = question.kind == OVERVIEW && question.reason.contains(expected);
        (!is_right)
            .then(|| format!("{problem}\n  expected {expected}\n  found    {} {}", shown(&question), question.reason))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// One more word that no rule knows, anywhere in a question that is answered, leads to no answer.
#[test]
fn an_answered_question_with_one_more_word_is_declined() {
    for (table, problem, _) in &ANSWERED {
        let words: Vec<&str> = problem.split(' ').collect();
        for word in ["weekdays", "normal", "not", "above", "2024", "January", "without", "异常"] {
            for at in 0..=words.len() {
                let mut more = words.clone();
                more.insert(at, word);
                let problem = more.join(" ");
                let question = read(*table, &problem);
                assert_eq!(question.kind, OVERVIEW, "{problem}");
            }
        }
    }
}

#[test]
fn the_reading_says_how_the_problem_was_understood() {
    let reading = read(ORDERS, "Compare North and South: who sells a higher quantity?").reading();
    assert_eq!(
        reading,
        "The problem is read as: quantity compared by region; it names no figure, so each that makes sense is given."
    );
    let reading = read(ORDERS, "Is the revenue normal?").reading();
    assert_eq!(reading, "The problem is not answered: no rule uses the word `normal`.");
}

#[test]
fn a_cell_has_the_question_as_python() {
    let parts = read(ORDERS, "Compare North and South by \"quantity\"").parts("1f");
    for (part, expected) in [
        ("__QUESTION__", "\"groups\""),
        ("__OTHERS__", "[]"),
        ("__PERIOD__", "None"),
        ("__VALUES__", "[\"North\",\"South\"]"),
        ("__FIGURES__", "[]"),
    ] {
        assert!(parts.contains(&(part, expected.to_owned())), "{part}: {parts:?}");
    }
}
